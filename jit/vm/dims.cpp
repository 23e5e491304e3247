#include "jit/vm/dims.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace quern::vm {

// --- evaluation --------------------------------------------------------------------------------------------

DimCode compile_dim(Dim dim, const SlotOf& slot_of) {
  DimCode code{.kind = dim->kind, .value = dim->value, .dim = dim};
  if (dim->kind == DimKind::Var) code.slot = slot_of(dim);
  for (Dim arg : dim->args) code.args.push_back(compile_dim(arg, slot_of));
  return code;
}

namespace {

using Extent = std::optional<int64_t>;

Extent divide(const DimCode& code, int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  int64_t quotient = a / b;
  if (quotient * b != a && (a < 0) != (b < 0)) --quotient;
  return code.kind == DimKind::FloorDiv ? quotient : a - quotient * b;
}

Extent broadcast(int64_t a, int64_t b) {
  if (a != b && a != 1 && b != 1) return std::nullopt;
  return a == 1 ? b : a;
}

/// Combines operands from left to right.
Extent combine(const DimCode& code, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (code.kind) {
    case DimKind::Sum: return __builtin_add_overflow(a, b, &result) ? std::nullopt : Extent(result);
    case DimKind::Product: return __builtin_mul_overflow(a, b, &result) ? std::nullopt : Extent(result);
    case DimKind::FloorDiv:
    case DimKind::FloorMod: return divide(code, a, b);
    case DimKind::Min: return std::min(a, b);
    case DimKind::Max: return std::max(a, b);
    case DimKind::Broadcast: return broadcast(a, b);
    case DimKind::Const:
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer: break;
  }
  return std::nullopt;
}

Extent evaluate_compound(const DimCode& code, const int64_t* slots) {
  Extent result;
  if (code.kind == DimKind::Product) result = code.value;
  for (const DimCode& arg : code.args) {
    Extent next = evaluate(arg, slots);
    if (!next) return std::nullopt;
    result = result ? combine(code, *result, *next) : next;
    if (!result) return std::nullopt;
  }
  return result;
}

}  // namespace

std::optional<int64_t> evaluate(const DimCode& code, const int64_t* slots) {
  if (code.kind == DimKind::Const) return code.value;
  if (code.kind != DimKind::Var) return evaluate_compound(code, slots);
  return slots[code.slot] == kUnbound ? std::nullopt : Extent(slots[code.slot]);
}

std::string why_no_value(const DimCode& code, const int64_t* slots) {
  for (const DimCode& arg : code.args)
    if (!evaluate(arg, slots)) return why_no_value(arg, slots);
  if (code.kind == DimKind::Broadcast)
    return fmt::format("extents {} and {} do not broadcast", *evaluate(code.args[0], slots),
                       *evaluate(code.args[1], slots));
  if (code.args.empty()) return fmt::format("the extent {} has no value here", to_string(code.dim));
  return fmt::format("{} has no value here: it overflows or divides by zero", to_string(code.dim));
}

// --- plans -------------------------------------------------------------------------------------------------

void BindPlanner::add(uint32_t value, Type type, Type given, Trust trust, const Variable* parameter) {
  TensorBinding at{value, {}, nullptr, parameter, {}, {}};
  add(at, type, given, trust);
}

void BindPlanner::add(TensorBinding& at, Type type, Type given, Trust trust) {
  if (given == type && trust == Trust::Callee) return;
  if (type->kind == TypeKind::Tensor) return add_tensor(at, type, given, trust);
  if (type->kind != TypeKind::Tuple) return;
  bool same_form = given && given->kind == TypeKind::Tuple && given->args.size() == type->args.size();
  for (uint32_t i = 0; i < type->args.size(); ++i) {
    at.path.push_back(i);
    add(at, type->args[i], same_form ? given->args[i] : nullptr, trust);
    at.path.pop_back();
  }
}

void BindPlanner::add_tensor(TensorBinding binding, Type type, Type given, Trust trust) {
  bool same_form = given && given->is_tensor() && given->dims.size() == type->dims.size();
  binding.type = type;
  for (size_t axis = 0; axis < type->dims.size(); ++axis) {
    Dim dim = type->dims[axis];
    if (!wanted(dim, same_form ? given->dims[axis] : nullptr, trust)) continue;
    if (dim->args.empty())
      binding.simple.push_back({axis, compile_dim(dim, slot_of_)});
    else
      binding.compound.push_back(compound(axis, dim));
  }
  plan_.has_compound |= !binding.compound.empty();
  if (!binding.simple.empty() || !binding.compound.empty()) plan_.tensors.push_back(std::move(binding));
}

bool BindPlanner::wanted(Dim dim, Dim given, Trust trust) const {
  if (dim->has_any || dim->has_infer) return false;
  switch (trust) {
    case Trust::Nothing: return true;
    case Trust::Constants: return !as_const(dim);
    case Trust::Given: return dim != given || !all_known(dim, known_);
    case Trust::Callee: return as_const(dim) && given && given->has_any;
  }
  return true;
}

bool BindPlanner::all_known(Dim dim, const std::unordered_set<Dim>& known) const {
  bool all = true;
  for_each_var(dim, [&](Dim var) { all = all && known.contains(var); });
  return all;
}

ExtentBinding BindPlanner::compound(size_t axis, Dim dim) const {
  ExtentBinding binding{axis, compile_dim(dim, slot_of_)};
  std::vector<Dim> seen;
  for_each_var(dim, [&](Dim var) {
    if (std::find(seen.begin(), seen.end(), var) != seen.end()) return;
    seen.push_back(var);
    std::optional<Linear> linear = linear_in(dim, var);
    if (linear)
      binding.solutions.push_back(
          {slot_of_(var), compile_dim(linear->coefficient, slot_of_), compile_dim(linear->rest, slot_of_)});
  });
  return binding;
}

BindPlan BindPlanner::finish(std::unordered_set<Dim>& known) {
  auto for_each_dim = [this](std::vector<ExtentBinding> TensorBinding::*list, const auto& f) {
    for (const TensorBinding& tensor : plan_.tensors)
      for (const ExtentBinding& extent : tensor.*list) f(extent.code.dim);
  };
  for_each_dim(&TensorBinding::simple, [&](Dim dim) {
    if (!as_const(dim)) known.insert(dim);
  });
  bool learned = true;
  while (learned) {
    learned = false;
    for_each_dim(&TensorBinding::compound, [&](Dim dim) { learned |= learn_from(dim, known); });
  }
  return std::move(plan_);
}

/// Whether the extent determines its last unknown variable, which is known from then on.
bool BindPlanner::learn_from(Dim dim, std::unordered_set<Dim>& known) const {
  Dim unknown = nullptr;
  bool several = false;
  for_each_var(dim, [&](Dim var) {
    if (known.contains(var)) return;
    several |= unknown && unknown != var;
    unknown = var;
  });
  if (!unknown || several || !linear_in(dim, unknown)) return false;
  known.insert(unknown);
  return true;
}

// --- running plans -----------------------------------------------------------------------------------------

namespace {

std::string disagreement(const TensorBinding& binding, const std::string& what) {
  std::string subject =
      binding.parameter ? fmt::format("the argument %{}", binding.parameter->name) : "the value";
  return fmt::format("{} does not fit: {}", subject, what);
}

std::string wrong_extent(const TensorBinding& binding, const HostTensor& tensor, const ExtentBinding& extent,
                         std::optional<int64_t> expected) {
  Dim dim = extent.code.dim;
  std::string what = fmt::format("axis {} of {} has extent {}, ", extent.axis,
                                 type_to_string(tensor.dtype(), tensor.shape()), tensor.shape()[extent.axis]);
  if (as_const(dim))
    what += fmt::format("not {}", *expected);
  else if (expected)
    what += fmt::format("but {} is {}", to_string(dim), *expected);
  else
    what += fmt::format("which {} cannot be", to_string(dim));
  return disagreement(binding, what);
}

/// The tensor of a binding; null if the value has another form.
const HostTensor* tensor_of(const TensorBinding& binding, const Value* values) {
  const Value* value = values + binding.value;
  for (uint32_t index : binding.path) {
    const std::vector<Value>* fields = value->fields();
    if (!fields || index >= fields->size()) return nullptr;
    value = &(*fields)[index];
  }
  auto* boxed = value->object_as<TensorObject>();
  return boxed ? boxed->tensor.get() : nullptr;
}

std::string bind_simple(const TensorBinding& binding, const Value* values, int64_t* slots) {
  const HostTensor* tensor = tensor_of(binding, values);
  size_t rank = tensor ? tensor->shape().size() : 0;
  if (rank != binding.type->dims.size())
    return disagreement(binding, fmt::format("the value has rank {}, not {} as {}", rank,
                                             binding.type->dims.size(), to_string(binding.type)));
  for (const ExtentBinding& extent : binding.simple) {
    int64_t actual = tensor->shape()[extent.axis], expected = extent.code.value;
    if (extent.code.kind == DimKind::Var) {
      int64_t& slot = slots[extent.code.slot];
      if (slot == kUnbound) slot = actual;
      expected = slot;
    }
    if (actual != expected) return wrong_extent(binding, *tensor, extent, expected);
  }
  return {};
}

enum class Settled : uint8_t { NotYet, Compared, Solved, Wrong };

/// Compares an extent with all variables bound, or solves one with a single unbound variable.
Settled settle(const ExtentBinding& extent, int64_t actual, int64_t* slots) {
  if (auto expected = evaluate(extent.code, slots))
    return *expected == actual ? Settled::Compared : Settled::Wrong;
  for (const Solution& solution : extent.solutions) {
    if (slots[solution.slot] != kUnbound) continue;
    auto coefficient = evaluate(solution.coefficient, slots), rest = evaluate(solution.rest, slots);
    if (!coefficient || !rest || *coefficient == 0) continue;
    int64_t product = 0;
    bool fits = !__builtin_sub_overflow(actual, *rest, &product) && product != INT64_MIN;
    if (!fits || product % *coefficient != 0 || product / *coefficient < 0) return Settled::Wrong;
    slots[solution.slot] = product / *coefficient;
    return Settled::Solved;
  }
  return Settled::NotYet;
}

/// Repeats rounds while they bind variables. Undetermined extents are ignored.
std::string bind_compound(const BindPlan& plan, const Value* values, int64_t* slots) {
  bool solved = true;
  while (solved) {
    solved = false;
    for (const TensorBinding& binding : plan.tensors) {
      if (binding.compound.empty()) continue;
      const HostTensor& tensor = *tensor_of(binding, values);
      for (const ExtentBinding& extent : binding.compound) {
        Settled settled = settle(extent, tensor.shape()[extent.axis], slots);
        if (settled == Settled::Wrong)
          return wrong_extent(binding, tensor, extent, evaluate(extent.code, slots));
        solved |= settled == Settled::Solved;
      }
    }
  }
  return {};
}

}  // namespace

std::string bind(const BindPlan& plan, const Value* values, int64_t* slots) {
  for (const TensorBinding& binding : plan.tensors)
    if (std::string wrong = bind_simple(binding, values, slots); !wrong.empty()) return wrong;
  return plan.has_compound ? bind_compound(plan, values, slots) : std::string();
}

}  // namespace quern::vm
