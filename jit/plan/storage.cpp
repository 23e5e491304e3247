#include "jit/plan/storage.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "jit/plan/forward.h"

namespace quern {

namespace {

using vm::Function;
using vm::Instruction;
using vm::KernelSite;
using vm::kLastUse;
using vm::Opcode;
using vm::Register;

/// The results of kernels in whose memory the tensor of a register may lie, by number, ascending.
struct HeldResults {
  std::vector<uint32_t> results;
  bool is_view = false;

  bool holds(uint32_t result) const { return std::ranges::binary_search(results, result); }
};

HeldResults either(const HeldResults& a, const HeldResults& b) {
  HeldResults both{{}, a.is_view || b.is_view};
  std::ranges::set_union(a.results, b.results, std::back_inserter(both.results));
  return both;
}

/// What an instruction does with the tensors of its operands.
enum class Use : uint8_t {
  Reads,    ///< they are not needed afterwards
  Aliases,  ///< its result lies in their memory
  Keeps,    ///< they may outlive the call, or a call in it
};

Use use_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Move:
    case Opcode::View: return Use::Aliases;
    case Opcode::Tuple:
    case Opcode::Construct:
    case Opcode::Field:
    case Opcode::Ref:
    case Opcode::RefRead:
    case Opcode::RefWrite:
    case Opcode::Closure:
    case Opcode::Invoke:
    case Opcode::TailInvoke:
    case Opcode::Return:
    case Opcode::Intrinsic:
    case Opcode::Extern: return Use::Keeps;
    case Opcode::Const:
    case Opcode::DimValue:
    case Opcode::Scalar:
    case Opcode::Cast:
    case Opcode::Element:
    case Opcode::Jump:
    case Opcode::JumpUnless:
    case Opcode::Switch:
    case Opcode::Unmatched:
    case Opcode::Kernel:
    case Opcode::Capture:
    case Opcode::Self:
    case Opcode::Global:
    case Opcode::Bind:
    case Opcode::CheckDims:
    case Opcode::Drop:
    case Opcode::Fail: break;
  }
  return Use::Reads;
}

class StoragePlanner {
 public:
  explicit StoragePlanner(Function& function) : function_(function), registers_(function.registers) {}

  void run() {
    follow_forward(function_, registers_, [&](uint32_t at, const Instruction& in) { step(at, in); });
    auto storage = std::make_unique<vm::Storage>();
    for (const Result& result : results_) {
      // The block is the host's.
      if (result.is_kept || !result.site->device.empty()) continue;
      result.site->stored = static_cast<uint32_t>(storage->tensors.size());
      storage->tensors.push_back({result.site, result.first, result.last});
    }
    if (!storage->tensors.empty()) function_.storage = std::move(storage);
  }

 private:
  struct Result {
    KernelSite* site;
    uint32_t first, last;
    bool is_kept = false;
  };

  HeldResults& at(Register r) { return registers_[r & ~kLastUse]; }

  void step(uint32_t position, const Instruction& in) {
    const Use use = use_of(in.opcode);
    HeldResults aliased;
    vm::for_each_operand(function_, in, [&](Register r) {
      if (r == vm::kNoRegister) return;
      for (const uint32_t result : at(r).results) results_[result].last = position;
      if (use == Use::Keeps) keep(at(r));
      if (use == Use::Aliases) aliased = at(r);
    });
    if (in.opcode == Opcode::View) aliased.is_view = true;
    if (in.opcode == Opcode::Kernel) aliased = kernel(position, in);
    release_last_uses(function_, in, registers_);
    // The block is given back while a callee runs.
    if (in.opcode == Opcode::Invoke)
      for (const HeldResults& held : registers_) keep(held);
    if (in.result != vm::kNoRegister) registers_[in.result] = std::move(aliased);
  }

  void keep(const HeldResults& held) {
    for (const uint32_t result : held.results) results_[result].is_kept = true;
  }

  /// The machine decides whether the result takes an operand's memory: if it is certain to where the operand has a place
  /// in the block, the result needs none.
  HeldResults kernel(uint32_t position, const Instruction& in) {
    auto& site = static_cast<KernelSite&>(*function_.sites[in.a]);
    if (site.shape.empty() && !site.dtype.is_vector()) return {};
    HeldResults result;
    if (site.under_result) {
      const Register operand = site.operands[*site.under_result];
      if (operand & kLastUse) result = {at(operand).results};
      if (is_sole(operand, site)) return result;
    }
    result.results.push_back(static_cast<uint32_t>(results_.size()));
    results_.push_back({&site, position, position});
    return result;
  }

  /// Whether this is the last use of an operand and of the one result that it holds.
  bool is_sole(Register operand, const KernelSite& site) {
    const HeldResults& held = at(operand);
    if (!(operand & kLastUse) || held.is_view || held.results.size() != 1) return false;
    const auto is_same = [&](Register other) { return (other & ~kLastUse) == (operand & ~kLastUse); };
    const auto holds = [&](const HeldResults& other) { return other.holds(held.results.front()); };
    return std::ranges::count_if(site.operands, is_same) == 1 &&
           std::ranges::count_if(registers_, holds) == 1;
  }

  Function& function_;
  std::vector<HeldResults> registers_;
  std::vector<Result> results_;
};

}  // namespace

void plan_storage(Program& program) {
  for (const auto& function : program.functions) StoragePlanner(*function).run();
}

std::shared_ptr<const Program> planned_program(ExprPtr body, const std::vector<const Variable*>& inputs,
                                               std::shared_ptr<const Arena> owner) {
  std::shared_ptr<Program> program = compile_program(body, inputs, std::move(owner));
  plan_storage(*program);
  return program;
}

}  // namespace quern
