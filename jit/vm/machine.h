#pragma once
// One execution of a program: frames and registers are on separate stacks, so the thread's stack does not
// limit recursion depth.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/interpret/evaluation.h"
#include "ir/value/value.h"
#include "jit/vm/bytecode.h"
#include "jit/vm/vm.h"

namespace quern::vm {

/// A function literal's value, or a top-level function as one.
struct Closure final : ClosureObject {
  using ClosureObject::ClosureObject;
  std::shared_ptr<const Program> program;
  uint32_t function = 0;
  std::vector<int64_t> dims;  ///< one per Function::given_slots
};

/// Thrown when execution fails; caught by `execute`.
struct Stop {
  EvaluationError error;
};

/// A program of this execution, linked to the programs of its globals.
struct Link {
  std::shared_ptr<const Program> program;
  std::vector<Link*> globals;  ///< null until first used
};

class Machine {
 public:
  Machine(ProgramSource& programs, KernelSource& kernels, Host& host);

  EvaluationResult execute(const std::shared_ptr<const Program>& program, std::vector<Value> arguments);

 private:
  struct Frame {
    const Function* function;
    Link* link;
    size_t base, dim_base;                       ///< start of its registers and its dim slots
    const Instruction* return_to;                ///< in the caller
    Register result;                             ///< of the caller
    const Origin* origin;                        ///< of the call; null for the entry
    Value closure;                               ///< the running closure, or empty
    std::shared_ptr<const Placement> placement;  ///< of its function's storage for its dims, once known
    TensorPtr block;                             ///< the memory of that storage, while it is needed
  };
  /// Two words, returned in registers, to keep calls fast.
  struct Callee {
    Link* link;
    const Function* function;
  };

  // --- control (machine.cpp)
  Value run(const Instruction* pc);
  void enter_program(const std::shared_ptr<const Program>& program, std::vector<Value> arguments);
  const Instruction* invoke(const Instruction* pc);
  const Instruction* tail_invoke(const Instruction* pc);
  void move_arguments(const Instruction* pc, const CallSite& site, const Callee& callee);
  Callee callee(const Instruction* pc, const CallSite& site);
  void prepare(const Instruction* pc, const CallSite& site, const Callee& callee);
  void give_dims(const CallSite& site, const Function& callee, int64_t* slots);
  /// The closure that a site calls; null if it calls a global or a function that is not the machine's.
  const Closure* closure_of(const CallSite& site) const;
  /// Returns to the caller; null from the entry.
  const Instruction* leave(Value& result);
  void reserve(size_t registers, size_t slots);
  Link* link_of(const std::shared_ptr<const Program>& program);
  Link* link_of_global(const Instruction* pc, uint32_t global);
  void check_interrupt(const Instruction* pc) const;
  std::vector<OpenCall> open_calls() const;
  void note_tail_call(const Origin* call);
  const Origin& origin(const Instruction* pc) const {
    return function().origins[static_cast<size_t>(pc - function().code.data())];
  }
  [[noreturn]] void fail(const Instruction* pc, std::string message,
                         FailureKind kind = FailureKind::Evaluation) const;
  struct CalledPrimitive;
  void open(const KernelSite& site, CalledPrimitive& called) const;
  /// Fails, at the operation that made it, if a kernel's result has a NaN and none of its operands has.
  void check_nan(const Instruction* pc, const KernelSite& site, const Value& result) const;
  void checked_scalar(const Instruction* pc);
  [[noreturn]] void fail_in_kernel(const Instruction* pc, const KernelSite& site, const Shape& shape,
                                   int32_t trap);

  // --- values (machine_values.cpp)
  const Instruction* cast(const Instruction* pc);
  const Instruction* element(const Instruction* pc);
  void dim_value(const Instruction* pc);
  void kernel(const Instruction* pc);
  const KernelSite::Code& kernel_code(const Instruction* pc, const KernelSite& site);
  void view(const Instruction* pc);
  void tuple(const Instruction* pc);
  void construct(const Instruction* pc);
  void field(const Instruction* pc);
  const Instruction* switch_to_arm(const Instruction* pc);
  [[noreturn]] void unmatched(const Instruction* pc);
  void ref(const Instruction* pc);
  void ref_read(const Instruction* pc);
  void ref_write(const Instruction* pc);
  RefObject& place(const Instruction* pc, Register r);
  void closure(const Instruction* pc);
  void capture(const Instruction* pc);
  void global(const Instruction* pc);
  void intrinsic(const Instruction* pc);
  void extern_kernel(const Instruction* pc);
  void bind(const Instruction* pc);
  void check_dims(const Instruction* pc);
  Shape shape(const Instruction* pc, const std::vector<DimCode>& codes);
  /// In the host's memory, or a device's.
  TensorPtr make_tensor(const Instruction* pc, DType dtype, Shape shape,
                        const std::shared_ptr<Device>& device = nullptr);
  /// Null for the host.
  std::shared_ptr<Device> device_of(const Instruction* pc, std::string_view name) const;
  /// The value with its tensors in the memory of another device. Numbers of rank 0 are the host's.
  Value copied_to(const Instruction* pc, const std::shared_ptr<Device>& device, const Value& value);
  std::optional<int64_t> value_of(const std::optional<DimCode>& dim) const;
  int32_t run_kernel(const Instruction* pc, const std::string& name, const CompiledKernel& code,
                     void* const* buffers, std::optional<int64_t> range, std::optional<int64_t> work);
  /// The prepacked form that a kernel takes instead of a tensor, made on first use, or for this call where none are kept.
  HostTensor& packed_form(const Instruction* pc, const KernelCode::Packed& packed,
                          const KernelSite::Code::Packed& dims, HostTensor& tensor);
  TensorPtr memory_of_operand(const Instruction* pc, const KernelSite& site);
  TensorPtr new_result(const Instruction* pc, const KernelSite& site);
  /// The offset of the result in the frame's block, which is there then; nothing if it has memory of its own.
  std::optional<size_t> place_in_block(const KernelSite& site);
  std::shared_ptr<const Placement> placement_of(const Storage& storage) const;
  void call_kernel(const Instruction* pc, const KernelSite& site, const Shape& shape, void* output);
  double operations_of(const KernelSite::Code& code) const;
  double bytes_of(const KernelSite& site, const Shape& shape) const;

  // --- registers
  const Value& peek(Register r) const { return registers_[r & ~kLastUse]; }
  Value take(Register r) { return (r & kLastUse) ? std::move(registers_[r & ~kLastUse]) : registers_[r]; }
  /// Drops the value after its last use.
  void done(Register r) {
    if (r & kLastUse) registers_[r & ~kLastUse] = Value();
  }
  std::vector<Value> take_all(const std::vector<Register>& operands);
  /// The register is vacant: its old value was dropped at its last use, or is a scalar.
  void put(Register r, Value value) { std::construct_at(&registers_[r], std::move(value)); }
  const Function& function() const { return *frames_.back().function; }

  ProgramSource& programs_;
  KernelSource& kernels_;
  PrepackedForms& forms_;
  Host& host_;
  Profile* const profile_;  ///< null if calls are not recorded
  const MachineOptions options_;

  // Destroyed last, after every value.
  std::unordered_map<const Program*, std::unique_ptr<Link>> links_;
  std::map<GlobalName, Link*> named_;

  std::unique_ptr<Value[]> stack_;
  size_t stack_size_ = 0;
  std::vector<int64_t> dim_stack_;
  std::vector<Frame> frames_;
  /// Tail calls that reused a frame, the last few per frame; `depth` is the frame's position.
  struct TailCall {
    size_t depth;
    const Origin* call;
  };
  std::vector<TailCall> tail_calls_;
  Value* registers_ = nullptr;  ///< of the running frame
  int64_t* slots_ = nullptr;

  std::vector<void*> buffers_;
  std::vector<TensorPtr> passing_forms_;  ///< of the running kernel, where none are kept
  std::vector<int64_t> kernel_dims_;
};

}  // namespace quern::vm
