#include "passes/gradient/element/element_scope.h"

#include <algorithm>

#include "passes/may_fail.h"

namespace quern {

namespace {

ExprPtr in_block(const ScalarBuilder& build, const Binding& binding, ExprPtr value) {
  std::vector<Binding> bindings{binding};
  if (auto* block = as<BlockExpr>(value)) {
    bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
    value = block->result;
  }
  return build.arena().make<BlockExpr>(Expr{ExprKind::Block, value->type, build.origin()},
                                       build.arena().copy(bindings), value);
}

bool uses(ExprPtr expr, const Variable* variable) {
  const std::vector<const Variable*> free = free_variables(expr);
  return std::ranges::find(free, variable) != free.end();
}

}  // namespace

void ElementScope::enter(std::span<const Dim> more, std::span<const Dim> their_extents) {
  vars.insert(vars.end(), more.begin(), more.end());
  extents.insert(extents.end(), their_extents.begin(), their_extents.end());
}

void ElementScope::leave(const Mark& mark) {
  vars.resize(mark.vars);
  extents.resize(mark.vars);
  zero.resize(mark.zero);
  nonnegative.resize(mark.nonnegative);
  around_.resize(mark.around);
}

ExprPtr ElementScope::within(const ScalarBuilder& build, ExprPtr value, const Mark& since) const {
  for (size_t k = around_.size(); k-- > since.around;) {
    const Binding& b = around_[k];
    if (!b.variable)
      value = build.where(b.value, value);
    else if (uses(value, b.variable))
      value = in_block(build, b, value);
  }
  return value;
}

ExprPtr ElementScope::with_lets(const ScalarBuilder& build, ExprPtr value) const {
  for (size_t k = around_.size(); k-- > 0;)
    if (around_[k].variable && uses(value, around_[k].variable)) value = in_block(build, around_[k], value);
  return value;
}

ExprPtr ElementScope::holds(const ScalarBuilder& build) const {
  ExprPtr all = nullptr;
  for (const Binding& b : around_)
    if (!b.variable) all = build.both(all, with_lets(build, b.value));
  return all;
}

ExprPtr ElementScope::guarded(const ScalarBuilder& build, ExprPtr value, const Mark& since) const {
  ExprPtr guard = nullptr;
  for (size_t k = since.zero; k < zero.size(); ++k) guard = build.both(guard, build.is_zero(zero[k]));
  for (size_t k = since.nonnegative; k < nonnegative.size(); ++k)
    guard = build.both(guard, build.is_nonnegative(nonnegative[k]));
  return build.where(guard, within(build, value, since));
}

ExprPtr ElementScope::summed(const ScalarBuilder& build, ExprPtr value, const Mark& since) const {
  value = guarded(build, value, since);
  for (size_t k = vars.size(); k-- > since.vars;)
    value =
        build.reduce(ReduceKind::Sum, std::span(vars).subspan(k, 1), std::span(extents).subspan(k, 1), value);
  return value;
}

ExprPtr ElementScope::without_failure(const ScalarBuilder& build, ExprPtr value) const {
  // An enclosing loop that it does not depend on may have no steps.
  Facts facts;
  ExprPtr is_reached = nullptr;
  for (size_t k = 0; k < vars.size(); ++k) {
    const Dim last = dim_sub(extents[k], dim_const(1));
    if (mentions(value, vars[k]))
      facts.add_index(vars[k], extents[k]);
    else if (!prove_nonnegative(last, facts))
      is_reached = build.both(is_reached, build.is_nonnegative(last));
  }
  return may_fail(value, facts) ? build.where(is_reached, guarded(build, value, {})) : value;
}

std::optional<ElementScope::Tensor> ElementScope::as_tensor(const ScalarBuilder& build, ExprPtr value) const {
  value = without_failure(build, with_lets(build, value));
  Tensor result{nullptr, {}};
  std::vector<Dim> own_extents, fresh;
  DimMap renamed;
  for (size_t k = 0; k < vars.size(); ++k) {
    if (!mentions(value, vars[k])) continue;
    result.at.push_back(vars[k]);
    own_extents.push_back(extents[k]);
    fresh.push_back(dim_var(vars[k]->name));
    renamed.emplace(vars[k], fresh.back());
  }
  for (Dim extent : own_extents)
    if (std::ranges::any_of(vars, [&](Dim var) { return contains_var(extent, var); })) return std::nullopt;
  result.tensor = as<ComprehensionExpr>(build.comprehension(fresh, own_extents, build.copy(value, renamed)));
  return result;
}

bool mentions(ExprPtr expr, Dim var) {
  if (auto* dim = as<DimValueExpr>(expr)) return contains_var(dim->dim, var);
  bool found = false;
  auto look = [&](std::span<const Dim> extents) {
    for (Dim d : extents) found = found || contains_var(d, var);
  };
  if (auto* e = as<ReduceExpr>(expr)) look(e->extents);
  if (auto* e = as<ScanExpr>(expr)) look(e->extents);
  for_each_child(expr, [&](ExprPtr child) { found = found || mentions(child, var); });
  return found;
}

}  // namespace quern
