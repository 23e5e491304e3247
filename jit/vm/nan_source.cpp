#include "jit/vm/nan_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace quern::vm {

namespace {

template <class T>
bool has_nan_of(std::span<const T> elements) {
  // No early exit, so that the loop is vectorized.
  bool found = false;
  for (const T element : elements) found |= std::isnan(element);
  return found;
}

std::string operands_text(std::span<const Value> operands) {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i == 0                     ? ""
             : i + 1 == operands.size() ? " and "
                                        : ", ") +
            to_string(operands[i], {.heading = false});
  return text;
}

/// Follows a NaN from the result to the operands that are NaNs, until none of an operation's operands is one.
class Search {
 public:
  Search(const Environment& arguments, Host& host) : values_(arguments), host_(host) {}

  /// `value`: the value of the expression.
  std::optional<NanSource> of_tensor(ExprPtr expr, const Value& value) {
    if (auto* block = as<BlockExpr>(expr)) {
      for (const Binding& binding : block->bindings) {
        const Value bound = value_of(binding.value);
        if (auto found = of_tensor(binding.value, bound)) return found;
        if (binding.variable) values_.insert_or_assign(binding.variable, bound);
      }
      return of_tensor(block->result, value);
    }
    if (!has_nan(value)) return std::nullopt;
    auto* e = as<ComprehensionExpr>(expr);
    return e && !e->vars.empty() ? of_point(point_of(*e, first_nan(value))) : of_point(e ? e->body : expr);
  }

 private:
  Value value_of(ExprPtr expr) {
    const EvaluationResult result = interpret(expr, values_, none_, host_);
    return result ? result.value() : Value();
  }
  bool is_nan(ExprPtr expr) { return expr->type && expr->type->is_scalar() && has_nan(value_of(expr)); }

  static int64_t first_nan(const Value& value) {
    const TensorPtr tensor = value.as_tensor();
    int64_t at = 0;
    while (at + 1 < tensor->size() && !std::isnan(element_as_double(*tensor, at))) ++at;
    return at;
  }

  template <class Binder>
  ExprPtr point_of(const Binder& binder, int64_t offset) {
    ExprSubstitution point;
    for (size_t k = binder.vars.size(); k-- > 0;) {
      const int64_t extent = std::max<int64_t>(as_const(binder.extents[k]).value_or(1), 1);
      point.types.dims.emplace(binder.vars[k], dim_const(offset % extent));
      offset /= extent;
    }
    return substitute(arena_, binder.body, point);
  }

  /// The expression of an element that is a NaN.
  std::optional<NanSource> of_point(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr)) {
      for (const Binding& binding : block->bindings) {
        if (!binding.variable) continue;
        if (is_nan(binding.value)) bound_.insert_or_assign(binding.variable, binding.value);
        values_.insert_or_assign(binding.variable, value_of(binding.value));
      }
      return of_point(block->result);
    }
    if (auto* variable = as<VarExpr>(expr))
      if (auto found = bound_.find(variable->variable); found != bound_.end()) return of_point(found->second);
    if (auto* e = as<IfExpr>(expr)) {
      const Value condition = value_of(e->condition);
      return of_point(condition.is_scalar() && condition.scalar().bits != 0 ? e->then_arm : e->else_arm);
    }
    if (auto* e = as<ReduceExpr>(expr)) return of_reduction(*e);
    if (auto* e = as<ScalarExpr>(expr)) {
      std::vector<Value> operands;
      for (ExprPtr arg : e->args) {
        if (is_nan(arg)) return of_point(arg);
        operands.push_back(value_of(arg));
      }
      if (!e->is_cast) return NanSource{expr->origin, nan_message(e->op, operands)};
    }
    return NanSource{expr->origin, "this is a NaN"};
  }

  std::optional<NanSource> of_reduction(const ReduceExpr& e) {
    constexpr int64_t kMostPoints = 100'000;
    int64_t points = 1;
    for (Dim extent : e.extents) points *= as_const(extent).value_or(0);
    for (int64_t i = 0; i < std::min(points, kMostPoints); ++i) {
      ExprPtr term = point_of(e, i);
      if (is_nan(term)) return of_point(term);
    }
    return NanSource{e.origin,
                     fmt::format("`{}` of finite and infinite numbers is a NaN", to_string(e.reduce))};
  }

  Environment values_;
  std::unordered_map<const Variable*, ExprPtr> bound_;  ///< to a NaN
  Host& host_;
  NoFunctions none_;
  Arena arena_;
};

}  // namespace

bool has_nan(const Value& value) {
  if (value.is_scalar()) {
    const Scalar scalar = value.scalar();
    return scalar.dtype.is_float() && std::isnan(scalar.as_double());
  }
  auto* boxed = value.object_as<TensorObject>();
  if (!boxed || !boxed->tensor->dtype().is_float()) return false;
  const HostTensor& tensor = *boxed->tensor;
  if (tensor.dtype() == DType::float32()) return has_nan_of(tensor.elements<float>());
  if (tensor.dtype() == DType::float64()) return has_nan_of(tensor.elements<double>());
  for (int64_t i = 0; i < tensor.lane_count(); ++i)
    if (std::isnan(element_as_double(tensor, i))) return true;
  return false;
}

std::string nan_message(ScalarOp op, std::span<const Value> operands) {
  return fmt::format("`{}` of {} is a NaN", info(op).name, operands_text(operands));
}

std::optional<NanSource> nan_source(ExprPtr body, const Value& result, const Environment& arguments,
                                    Host& host) {
  return Search(arguments, host).of_tensor(body, result);
}

}  // namespace quern::vm
