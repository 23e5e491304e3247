#include "jit/compute/in_place.h"

#include <algorithm>

#include "ir/expr/reads.h"

namespace quern::loops {

namespace {

/// Whether an element reads the tensor at its own place alone. Reductions, and checks of other reads, do not depend on it.
bool reads_own_place(ExprPtr expr, const Variable* tensor, std::span<const Dim> vars) {
  if (!mentions(expr, tensor)) return true;
  const auto holds = [&](ExprPtr child) { return !child || reads_own_place(child, tensor, vars); };
  if (auto* read = as<ReadExpr>(expr)) return is_read_at(*read, tensor, vars) && holds(read->otherwise);
  if (auto* scatter = as<ScatterExpr>(expr))
    return holds(scatter->init) && !mentions(scatter->value, tensor) &&
           std::ranges::none_of(scatter->indices, [&](ExprPtr index) { return mentions(index, tensor); });
  const bool is_element =
      expr->kind == ExprKind::Scalar || expr->kind == ExprKind::If || expr->kind == ExprKind::Block;
  bool all = is_element;
  for_each_child(expr, [&](ExprPtr child) { all = all && holds(child); });
  return all;
}

}  // namespace

std::optional<size_t> param_under_result(const FnExpr& primitive) {
  auto* body = as<ComprehensionExpr>(primitive.body);
  if (!body || body->schedule) return std::nullopt;
  for (size_t k = 0; k < primitive.params.size(); ++k) {
    const Variable* param = primitive.params[k];
    const bool fits = param->type->kind == TypeKind::Tensor && param->type->dtype == body->type->dtype &&
                      std::ranges::equal(param->type->dims, body->extents);
    if (fits && !body->vars.empty() && reads_own_place(body->body, param, body->vars)) return k;
  }
  return std::nullopt;
}

}  // namespace quern::loops
