#include "passes/fusion_class.h"

#include <algorithm>
#include <functional>

#include "passes/pass.h"

namespace quern {

namespace {

// Whether a read's position depends on one of the variables.
bool reads_along(ExprPtr expr, std::span<const Dim> vars) {
  bool found = false;
  if (auto* read = as<ReadExpr>(expr))
    for (ExprPtr index : read->indices)
      if (auto* dim = as<DimValueExpr>(index))
        found = found || std::ranges::any_of(vars, [&](Dim var) { return contains_var(dim->dim, var); });
  for_each_child(expr, [&](ExprPtr child) { found = found || reads_along(child, vars); });
  return found;
}

void factors(ExprPtr expr, std::vector<ExprPtr>& out) {
  auto* e = as<ScalarExpr>(expr);
  if (e && (e->is_cast || e->op == ScalarOp::Mul))
    for (ExprPtr arg : e->args) factors(arg, out);
  else
    out.push_back(expr);
}

}  // namespace

bool reduces(ExprPtr expr) {
  bool found =
      expr->kind == ExprKind::Reduce || expr->kind == ExprKind::Scan || expr->kind == ExprKind::Scatter;
  for_each_child(expr, [&](ExprPtr child) { found = found || reduces(child); });
  return found;
}

bool is_contraction(const ReduceExpr& reduce) {
  if (reduce.reduce != ReduceKind::Sum) return false;
  std::vector<ExprPtr> of;
  factors(reduce.body, of);
  return std::ranges::count_if(of, [&](ExprPtr factor) { return reads_along(factor, reduce.vars); }) >= 2;
}

std::string_view to_string(FusionClass c) {
  switch (c) {
    case FusionClass::Injective: return "injective";
    case FusionClass::Reduction: return "reduction";
    case FusionClass::Contraction: return "contraction";
    case FusionClass::Opaque: return "opaque";
  }
  return "";
}

FusionClass fusion_class(const ComprehensionExpr& comprehension) {
  FusionClass found = FusionClass::Injective;
  std::function<void(ExprPtr)> walk = [&](ExprPtr expr) {
    if (auto* reduce = as<ReduceExpr>(expr))
      found = std::max(found, is_contraction(*reduce) ? FusionClass::Contraction : FusionClass::Reduction);
    if (expr->kind == ExprKind::Scan) found = std::max(found, FusionClass::Reduction);
    if (expr->kind == ExprKind::Scatter) found = FusionClass::Opaque;
    for_each_child(expr, walk);
  };
  walk(comprehension.body);
  return found;
}

FusionClass fusion_class(FunctionSource& functions, ExprPtr body) {
  FusionClass found = FusionClass::Injective;
  std::function<void(ExprPtr)> walk = [&](ExprPtr expr) {
    if (auto* comprehension = as<ComprehensionExpr>(expr)) {
      found = std::max(found, fusion_class(*comprehension));
      return;
    }
    if (auto* call = as<OpCallExpr>(expr)) {
      auto instance = functions.instance(*call->instance);
      if (instance->function) walk(instance->function->body);
    }
    auto* branch = as<IfExpr>(expr);
    if (auto known = branch ? known_condition(branch->condition) : std::nullopt)
      return walk(*known ? branch->then_arm : branch->else_arm);
    if (facts(expr->kind).fusion == KindFacts::Fusion::Opaque) found = FusionClass::Opaque;
    // The parts that a value keeps for its derivative are not evaluated with it.
    auto* own = as<IntrinsicExpr>(expr);
    if (own && own->intrinsic == IntrinsicKind::WithGradient) return walk(own->args[0]);
    for_each_child(expr, walk);
  };
  walk(body);
  return found;
}

}  // namespace quern
