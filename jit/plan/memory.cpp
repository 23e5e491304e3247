#include "jit/plan/memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "jit/plan/forward.h"

namespace quern {

namespace {

using vm::Function;
using vm::Instruction;
using vm::kLastUse;
using vm::kNoRegister;
using vm::Opcode;
using vm::Register;

using Buffers = std::set<uint32_t>;

/// What a register holds: tensors, part by part where the parts of its value are known, and the function of a closure,
/// whose parts are what it captures.
struct Held {
  Buffers tensors;
  std::vector<Held> parts;
  std::optional<uint32_t> function;

  void add_to(Buffers& all) const {
    all.insert(tensors.begin(), tensors.end());
    for (const Held& part : parts) part.add_to(all);
  }
  Buffers all() const {
    Buffers every;
    add_to(every);
    return every;
  }
};

/// Of two paths.
Held either(const Held& a, const Held& b) {
  Held both;
  if (a.parts.size() != b.parts.size() || a.function != b.function) {
    a.add_to(both.tensors);
    b.add_to(both.tensors);
    return both;
  }
  both.function = a.function;
  both.tensors = a.tensors;
  both.tensors.insert(b.tensors.begin(), b.tensors.end());
  for (size_t k = 0; k < a.parts.size(); ++k) both.parts.push_back(either(a.parts[k], b.parts[k]));
  return both;
}

using Registers = std::vector<Held>;

Dim bytes_of(DType dtype, std::span<const vm::DimCode> shape) {
  Dim bytes = dim_const(static_cast<int64_t>(dtype.bytes()));
  for (const vm::DimCode& extent : shape) bytes = dim_mul(bytes, extent.dim);
  return bytes;
}

/// Of a tensor, or of those in a tuple.
Dim bytes_of(Type type) {
  if (type->kind == TypeKind::Tensor)
    return dim_mul(dim_const(static_cast<int64_t>(type->dtype.bytes())), dim_product(type->dims));
  Dim bytes = dim_const(0);
  if (type->kind == TypeKind::Tuple)
    for (const Type part : type->args) bytes = dim_add(bytes, bytes_of(part));
  return bytes;
}

/// Of a function's stored tensors, if their sizes are constants.
std::optional<Placement> known_placement(const Function& function) {
  if (!function.storage) return std::nullopt;
  std::vector<Lifetime> lifetimes;
  for (const vm::Storage::Tensor& tensor : function.storage->tensors) {
    const auto bytes = as_const(bytes_of(tensor.site->dtype, tensor.site->shape));
    if (!bytes) return std::nullopt;
    lifetimes.push_back({*bytes, tensor.first, tensor.last});
  }
  return place(lifetimes);
}

class Planner {
 public:
  explicit Planner(const Program& program) : program_(program) {}

  MemoryPlan run() {
    const Function& entry = *program_.functions.front();
    call(0, Registers(entry.parameters), {}, {});
    for (const auto& [place, step] : steps_) {
      plan_.steps.push_back(step);
      if (const auto placement = known_placement(*program_.functions[step.function]))
        plan_.blocks.try_emplace(step.function, *placement);
    }
    return std::move(plan_);
  }

 private:
  /// A call under way: the function, what its closure holds, and what its callers hold meanwhile.
  struct Frame {
    uint32_t number;
    const Function& function;
    const std::vector<Held>& captures;
    const Buffers& outside;
    Registers registers;
    std::optional<Held> result;

    Held& at(Register r) { return registers[r & ~kLastUse]; }
  };

  Held call(uint32_t number, std::vector<Held> arguments, const std::vector<Held>& captures,
            const Buffers& outside) {
    constexpr int kTurns = 2;  // the second one begins with what a turn has made
    int& depth = depth_[number];
    if (depth == kTurns) return {};
    ++depth;
    const Function& function = *program_.functions[number];
    arguments.resize(function.registers);
    Frame frame{number, function, captures, outside, std::move(arguments), {}};
    follow_forward(function, frame.registers,
                   [&](uint32_t at, const Instruction& in) { step(frame, at, in); });
    --depth_[number];
    return frame.result.value_or(Held{});
  }

  void step(Frame& frame, uint32_t at, const Instruction& in) {
    Held result = value(frame, at, in);
    if (in.opcode == Opcode::Return || in.opcode == Opcode::TailInvoke)
      frame.result = frame.result ? either(*frame.result, result) : result;
    release_last_uses(frame.function, in, frame.registers);
    if (in.result != kNoRegister) frame.at(in.result) = std::move(result);
  }

  Held value(Frame& frame, uint32_t at, const Instruction& in) {
    switch (in.opcode) {
      case Opcode::Move:
      case Opcode::Return: return frame.at(in.a);
      case Opcode::Kernel: return kernel(frame, at, in);
      case Opcode::View: return frame.at(frame.function.sites[in.a]->operands[0]);
      case Opcode::Tuple:
      case Opcode::Construct: return {{}, held(frame, frame.function.sites[in.a]->operands), {}};
      case Opcode::Field: return part(frame.at(in.a), in.b);
      case Opcode::Ref:
      case Opcode::RefWrite:
        frame.at(in.opcode == Opcode::Ref ? in.a : in.b).add_to(in_references_);
        return {};
      case Opcode::RefRead: return {in_references_, {}, {}};
      case Opcode::Closure: {
        const auto& site = frame.function.site<vm::ClosureSite>(in);
        return {{}, held(frame, site.operands), site.function};
      }
      case Opcode::Capture: return in.a < frame.captures.size() ? frame.captures[in.a] : Held{};
      case Opcode::Self: return {{}, frame.captures, frame.number};
      case Opcode::Invoke:
      case Opcode::TailInvoke: return invoke(frame, in);
      case Opcode::Intrinsic:
        return made(frame, at, "intrinsic", bytes_of(frame.function.site<vm::IntrinsicSite>(in).node->type));
      case Opcode::Extern:
        return made(frame, at, "extern", bytes_of(frame.function.site<vm::ExternSite>(in).node->type));
      case Opcode::Const:
      case Opcode::DimValue:
      case Opcode::Scalar:
      case Opcode::Cast:
      case Opcode::Element:
      case Opcode::Jump:
      case Opcode::JumpUnless:
      case Opcode::Switch:
      case Opcode::Unmatched:
      case Opcode::Global:
      case Opcode::Bind:
      case Opcode::CheckDims:
      case Opcode::Drop:
      case Opcode::Fail: break;
    }
    return {};
  }

  static std::vector<Held> held(Frame& frame, const std::vector<Register>& registers) {
    std::vector<Held> all;
    all.reserve(registers.size());
    for (const Register r : registers) all.push_back(r == kNoRegister ? Held{} : frame.at(r));
    return all;
  }

  static Held part(const Held& whole, uint32_t field) {
    return field < whole.parts.size() ? whole.parts[field] : Held{whole.all(), {}, {}};
  }

  Held kernel(Frame& frame, uint32_t at, const Instruction& in) {
    const auto& site = frame.function.site<vm::KernelSite>(in);
    if (site.under_result)
      if (const auto taken = sole_tensor(frame, site.operands[*site.under_result])) {
        note(frame, at, &site, "kernel", dim_const(0), {});
        return {{*taken}, {}, {}};
      }
    if (site.shape.empty()) return {};
    return made(frame, at, "kernel", bytes_of(site.dtype, site.shape), &site);
  }

  /// The tensor of an operand that nothing else has, if the program has made it.
  std::optional<uint32_t> sole_tensor(Frame& frame, Register operand) const {
    const Buffers mine = frame.at(operand).all();
    if (!(operand & kLastUse) || mine.size() != 1 || frame.outside.contains(*mine.begin()) ||
        in_references_.contains(*mine.begin()))
      return std::nullopt;
    for (size_t k = 0; k < frame.registers.size(); ++k)
      if (k != (operand & ~kLastUse) && frame.registers[k].all().contains(*mine.begin())) return std::nullopt;
    return *mine.begin();
  }

  Held invoke(Frame& frame, const Instruction& in) {
    const auto& site = frame.function.site<vm::CallSite>(in);
    Held callee{{}, frame.captures, frame.number};
    if (site.callee == vm::CalleeKind::Global) callee.function = std::nullopt;
    if (site.callee == vm::CalleeKind::Closure) callee = frame.at(site.operands.back());
    std::vector<Held> arguments = held(
        frame, {site.operands.begin(), site.operands.begin() + static_cast<std::ptrdiff_t>(site.arguments)});
    const bool is_tail = in.opcode == Opcode::TailInvoke;
    if (!callee.function || (!is_tail && depth_[*callee.function] > 0)) {
      plan_.is_whole = false;
      return {};
    }
    Buffers outside = frame.outside;
    if (!is_tail)
      for (const Held& other : without_last_uses(frame, in)) other.add_to(outside);
    return call(*callee.function, std::move(arguments), callee.parts, outside);
  }

  /// What the caller has beside what it hands over.
  static Registers without_last_uses(const Frame& frame, const Instruction& in) {
    Registers copy = frame.registers;
    release_last_uses(frame.function, in, copy);
    return copy;
  }

  /// A new tensor of these bytes.
  Held made(Frame& frame, uint32_t at, std::string_view text, Dim bytes,
            const vm::KernelSite* site = nullptr) {
    if (is_const(bytes, 0)) return {};
    const auto buffer = static_cast<uint32_t>(bytes_.size());
    bytes_.push_back(bytes);
    note(frame, at, site, text, bytes, {buffer});
    return {{buffer}, {}, {}};
  }

  void note(const Frame& frame, uint32_t at, const vm::KernelSite* site, std::string_view text, Dim bytes,
            Buffers live) {
    live.insert(frame.outside.begin(), frame.outside.end());
    live.insert(in_references_.begin(), in_references_.end());
    for (const Held& held : frame.registers) held.add_to(live);
    Dim sum = dim_const(0);
    for (const uint32_t buffer : live) sum = dim_add(sum, bytes_[buffer]);
    const auto [known, is_new] = steps_.try_emplace(
        {frame.number, at}, MemoryStep{frame.number, at, site ? site->primitive : nullptr, text, bytes, sum,
                                       site ? site->stored : std::nullopt, frame.function.origins[at]});
    if (!is_new) {
      known->second.made = dim_max(known->second.made, bytes);
      known->second.live = dim_max(known->second.live, sum);
    }
    add_peak(sum);
  }

  void add_peak(Dim live) {
    const Facts none;
    const auto reaches = [&](Dim peak) { return prove_less_equal(live, peak, none); };
    if (std::ranges::any_of(plan_.peaks, reaches)) return;
    std::erase_if(plan_.peaks, [&](Dim peak) { return prove_less_equal(peak, live, none); });
    plan_.peaks.push_back(live);
  }

  const Program& program_;
  MemoryPlan plan_;
  std::vector<Dim> bytes_;  ///< of the tensors that are made
  Buffers in_references_;   ///< each stays as long as its reference may live
  std::map<std::pair<uint32_t, uint32_t>, MemoryStep> steps_;
  std::unordered_map<uint32_t, int> depth_;  ///< calls of a function that are under way
};

}  // namespace

MemoryPlan plan_memory(const Program& program) { return Planner(program).run(); }

}  // namespace quern
