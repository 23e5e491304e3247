#include "passes/may_fail.h"

#include <algorithm>

namespace quern {

namespace {

// An `else` covers only checked axes: the others were proved in bounds under the conditions at that place.
bool reads_inside(const ReadExpr& read, const Facts& facts) {
  for (size_t k = 0; k < read.indices.size(); ++k) {
    if (read.otherwise && read.checked[k]) continue;
    auto* index = as<DimValueExpr>(read.indices[k]);
    if (!index || !is_inside(index->dim, read.tensor->type->dims[k], facts)) return false;
  }
  return true;
}

template <class Binder>
bool binder_may_fail(const Binder& e, const Facts& facts) {
  Facts inside = facts;
  for (size_t k = 0; k < e.vars.size(); ++k) {
    if (may_divide_by_zero(e.extents[k], inside) || !prove_nonnegative(e.extents[k], inside)) return true;
    inside.add_index(e.vars[k], e.extents[k]);
  }
  return may_fail(e.body, inside);
}

}  // namespace

bool is_never_zero(Dim d, const Facts& facts) {
  return prove_less(dim_const(0), d, facts) || prove_less(d, dim_const(0), facts);
}

bool is_inside(Dim index, Dim extent, const Facts& facts) {
  return prove_nonnegative(index, facts) && prove_less(index, extent, facts);
}

bool may_divide_by_zero(Dim d, const Facts& facts) {
  const bool divides = d->kind == DimKind::FloorDiv || d->kind == DimKind::FloorMod;
  if (divides && !is_never_zero(d->args[1], facts)) return true;
  return std::ranges::any_of(d->args, [&](Dim arg) { return may_divide_by_zero(arg, facts); });
}

bool may_divide_by_zero(const ScalarExpr& e, const Facts& facts) {
  if (e.is_cast || !is_division(e.op) || !e.args[0]->type->dtype.is_index()) return false;
  auto* divisor = as<DimValueExpr>(e.args[1]);
  return !divisor || !is_never_zero(divisor->dim, facts);
}

bool may_fail(ExprPtr expr, const Facts& facts) {
  if (auto* e = as<DimValueExpr>(expr)) return may_divide_by_zero(e->dim, facts);
  if (auto* e = as<ReduceExpr>(expr)) {
    const bool is_some = !is_arg(e->reduce) || prove_less(dim_const(0), dim_product(e->extents), facts);
    return !is_some || binder_may_fail(*e, facts);
  }
  if (auto* e = as<ScanExpr>(expr)) return binder_may_fail(*e, facts);
  if (auto* e = as<ReadExpr>(expr); e && !reads_inside(*e, facts)) return true;
  if (auto* e = as<ScalarExpr>(expr); e && may_divide_by_zero(*e, facts)) return true;
  bool found = false;
  for_each_child(expr, [&](ExprPtr child) { found = found || may_fail(child, facts); });
  return found;
}

}  // namespace quern
