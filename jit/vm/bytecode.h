#pragma once
// Bytecode: functions of fixed-size instructions over numbered registers, with anything an instruction needs
// beyond two operands in its Site. Control flow only goes forward (loops are calls), so one backward pass
// finds every last use.
//
// Registers that may hold objects are emptied at their last use on every path, so none of a frame's registers
// holds an object when it is left. Unboxed scalars are left in place.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/value/value.h"
#include "jit/runtime/placement.h"
#include "jit/vm/dims.h"
#include "jit/vm/vm.h"

namespace quern {

namespace vm {

using Register = uint32_t;
/// Set in an operand if the register's value is not used again: it is moved, or dropped after the
/// instruction.
constexpr Register kLastUse = uint32_t{1} << 31;
constexpr Register kNoRegister = kLastUse - 1;

enum class Opcode : uint8_t {
#define QUERN_INSTRUCTION(name, text, a, b) name,
#include "jit/vm/instruction.def"
#undef QUERN_INSTRUCTION
};

enum class OperandKind : uint8_t { None, Register, Constant, Dim, DType, Label, Site, Number, Plan, Text };

struct OpcodeInfo {
  std::string_view text;
  OperandKind a, b;
};
const OpcodeInfo& info(Opcode opcode);

struct Instruction {
  Opcode opcode;
  bool flag = false;      ///< Element: an element out of bounds is not a failure; Scalar: b is a constant
  uint16_t function = 0;  ///< Scalar, Cast: number of the scalar function (vm/scalar.h)
  Register result = kNoRegister;
  uint32_t a = 0, b = 0;  ///< labels are positions in the code
};
static_assert(sizeof(Instruction) == 16);

/// The data of one instruction: its register operands in order, and more depending on the opcode.
struct Site {
  std::vector<Register> operands;

  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  virtual ~Site() = default;
};
struct ConstructSite final : Site {
  const Constructor* constructor;
};
/// operands: the value. `labels`: one per constructor of its type; positions in the code when finished.
struct SwitchSite final : Site {
  std::vector<uint32_t> labels;
};
/// operands: the tensor, then the computed indices.
struct ElementSite final : Site {
  struct Index {
    bool computed;
    bool checked;
    DimCode dim;  ///< of a non-computed index
  };
  std::vector<Index> indices;
};
struct KernelSite final : Site {
  const FnExpr* primitive;
  DType dtype;
  std::vector<DimCode> shape;    ///< of the result
  std::vector<DimCode> extents;  ///< of loops; may overflow
  /// The operand whose memory the result takes where nothing else has it (jit/compute/in_place.h).
  std::optional<size_t> under_result;
  /// The name of the device that runs it and has its operands and result in its memory; empty for the host.
  std::string device;
  /// Its number among the tensors of Function::storage.
  std::optional<uint32_t> stored;

  /// Code, fetched on first use; published by `ready`.
  struct Code {
    KernelCode kernel;
    std::vector<DimCode> dims;
    std::optional<DimCode> range, work;
    std::optional<DimCode> operations;  ///< operation_count of the primitive
    struct Packed {
      std::vector<DimCode> shape;
      std::optional<DimCode> range, work;
    };
    std::vector<Packed> packed;  ///< one per KernelCode::packed
  };
  mutable std::mutex mutex;
  mutable std::atomic<bool> ready = false;
  mutable Code code;
};
struct ViewSite final : Site {
  std::vector<DimCode> shape;
  bool same_count;  ///< known before the program runs
};
struct CheckSite final : Site {
  struct Check {
    DimCode left, right;
    DimCondition condition;
  };
  std::vector<Check> checks;
};
struct ClosureSite final : Site {
  uint32_t function;
  std::vector<uint32_t> slots;  ///< of the frame, one per entry of the function's given_slots
};
struct GlobalSite final : Site {
  uint32_t global;
  Type type;                  ///< of the function at this use
  std::vector<DimCode> dims;  ///< one per dim variable of the definition
};
enum class CalleeKind : uint8_t { Global, Closure, Self };
/// operands: the arguments, and for a Closure the callee as the last.
struct CallSite final : Site {
  CalleeKind callee;
  uint32_t arguments;
  bool in_place = false;  ///< of a tail call: the arguments can be moved to the first registers one at a time
  uint32_t global;        ///< Global
  std::vector<DimCode> dims;  ///< Global: one per dim variable of the definition
};
/// operands: kNoRegister for a label of `print`.
struct IntrinsicSite final : Site {
  const IntrinsicExpr* node;
};

struct ExternSite final : Site {
  const ExternExpr* node;
};

/// Results of kernels that are gone before their function calls another or returns: they share a block of memory.
struct Storage {
  struct Tensor {
    const KernelSite* site;
    uint32_t first, last;  ///< positions in the code, from the kernel to the last use of its result
  };
  std::vector<Tensor> tensors;
  mutable Placements placements;
};

struct Function {
  std::string name;     ///< for display
  Type type = nullptr;  ///< of the function as a value
  std::vector<Instruction> code;
  std::vector<Origin> origins;  ///< one per instruction
  uint32_t parameters = 0;      ///< the first registers
  uint32_t registers = 0;
  BindPlan bind;                 ///< dims from the arguments
  std::vector<Dim> dim_of_slot;  ///< one per slot
  std::vector<uint32_t>
      given_slots;  ///< slots initialised with the dims of the closure or of the definition's use
  std::vector<uint32_t> use_dims;  ///< top level: the dims of a use that they receive

  std::vector<Value> constants;
  std::vector<DType> dtypes;
  std::vector<DimCode> dims;
  std::vector<std::unique_ptr<Site>> sites;
  std::vector<BindPlan> plans;
  std::vector<std::string> texts;
  std::unique_ptr<const Storage> storage;  ///< null: each result has memory of its own (jit/plan/storage.h)

  template <class T>
  const T& site(const Instruction& instruction) const {
    return static_cast<const T&>(*sites[instruction.a]);
  }
};

/// Calls `f` with each register operand, in reading order.
template <class AFunction, class AnInstruction, class F>
void for_each_operand(AFunction& function, AnInstruction& instruction, const F& f) {
  const OpcodeInfo& kinds = info(instruction.opcode);
  if (kinds.a == OperandKind::Site)
    for (Register& operand : function.sites[instruction.a]->operands)
      if (operand != kNoRegister) f(operand);
  if (kinds.a == OperandKind::Register) f(instruction.a);
  const bool b_is_constant = instruction.opcode == Opcode::Scalar && instruction.flag;
  if (kinds.b == OperandKind::Register && !b_is_constant) f(instruction.b);
}

/// A function before register allocation: each value has its own register, and jumps refer to labels.
struct Draft {
  Function function;
  std::vector<bool> boxed;       ///< per register: whether it may hold an object
  std::vector<uint32_t> labels;  ///< positions in the code
};
/// Marks last uses, drops values that die on a branch, shares registers, and resolves labels.
std::unique_ptr<Function> finish(Draft draft);

}  // namespace vm

class Program {
 public:
  std::vector<std::unique_ptr<vm::Function>> functions;  ///< the entry first
  std::vector<GlobalName> globals;                       ///< top-level functions that the code refers to
  std::shared_ptr<const Arena> owner;
};

}  // namespace quern
