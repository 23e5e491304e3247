#include "jit/vm/operation_count.h"

#include <algorithm>
#include <unordered_set>

namespace quern {

namespace {

bool is_float(ExprPtr expr) { return expr->type->is_tensor() && expr->type->dtype.is_float(); }

class OperationCounter {
 public:
  Dim run(ExprPtr body) {
    Dim count = of(body);
    const bool is_over_loops = std::ranges::any_of(loops_, [&](Dim var) { return contains_var(count, var); });
    return is_over_loops ? nullptr : count;
  }

 private:
  Dim of(ExprPtr expr) {
    return visit(expr, overloaded{
                           [&](const ComprehensionExpr& e) { return comprehension(e); },
                           [&](const ReduceExpr& e) {
                             Dim step = dim_add(of(e.body), dim_const(is_float(e.body)));
                             return times(step, e.vars, e.extents);
                           },
                           // All positions share one pass, in which each is one step.
                           [&](const ScanExpr& e) {
                             loops_.insert(e.vars.begin(), e.vars.end());
                             return dim_add(of(e.body), dim_const(is_float(e.body)));
                           },
                           [&](const IfExpr& e) {
                             return dim_add(of(e.condition), dim_max(of(e.then_arm), of(e.else_arm)));
                           },
                           [&](const ScalarExpr& e) {
                             const bool counts = !e.is_cast && !e.args.empty() && is_float(e.args.front());
                             return dim_add(of_children(&e), dim_const(counts));
                           },
                           [&](const auto& e) { return of_children(&e); },
                       });
  }

  Dim of_children(ExprPtr expr) {
    Dim count = dim_const(0);
    for_each_child(expr, [&](ExprPtr child) { count = dim_add(count, of(child)); });
    return count;
  }

  /// A scatter's updates have their own loops, besides those of the elements.
  Dim comprehension(const ComprehensionExpr& e) {
    const auto* scatter = as<ScatterExpr>(e.body);
    if (!scatter) return times(of(e.body), e.vars, e.extents);
    const bool takes_in = scatter->scatter != ScatterKind::Set && is_float(scatter->value);
    Dim update = dim_add(of(scatter->value), dim_const(takes_in));
    for (ExprPtr index : scatter->indices) update = dim_add(update, of(index));
    return dim_add(times(of(scatter->init), e.vars, e.extents),
                   times(update, scatter->vars, scatter->extents));
  }

  Dim times(Dim count, std::span<const Dim> vars, std::span<const Dim> extents) {
    loops_.insert(vars.begin(), vars.end());
    for (Dim extent : extents) count = dim_mul(count, extent);
    return count;
  }

  std::unordered_set<Dim> loops_;
};

}  // namespace

Dim operation_count(const FnExpr& primitive) { return OperationCounter().run(primitive.body); }

}  // namespace quern
