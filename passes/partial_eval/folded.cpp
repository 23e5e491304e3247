// Arithmetic on what is known.

#include "ir/interpret/interpreter.h"
#include "passes/partial_eval/specialiser.h"

namespace quern::partial {

namespace {

/// Whether it is quick, has one result on every machine, and does nothing else.
bool is_plain(ExprPtr expr) {
  const bool is_exact = expr->type->is_scalar() && !expr->type->dtype.is_float();
  bool all = is_exact && (expr->kind == ExprKind::Const || expr->kind == ExprKind::Scalar ||
                          expr->kind == ExprKind::If || expr->kind == ExprKind::Comprehension ||
                          expr->kind == ExprKind::Read || expr->kind == ExprKind::OpCall ||
                          (expr->kind == ExprKind::DimValue && as_const(as<DimValueExpr>(expr)->dim)));
  if (all) for_each_child(expr, [&](ExprPtr child) { all = all && child && is_plain(child); });
  return all;
}

class NoHost final : public Host {
 public:
  void print(std::string_view) override {}
  Result<quern::Value> load(std::string_view, std::string_view, Type) override { return Failure{""}; }
  Result<Done> save(std::string_view, std::string_view, const quern::Value&, Type) override {
    return Failure{""};
  }
  Result<std::optional<quern::Value>> restore(std::string_view, Type) override { return Failure{""}; }
};

}  // namespace

ExprPtr folded(const PassContext& context, ExprPtr expr) {
  if (!expr->type->is_scalar() || !is_plain(expr)) return nullptr;
  NoHost host;
  const EvaluationResult result = interpret(expr, {}, context.functions, host);
  // What fails, fails when the program runs.
  if (!result) return nullptr;
  return context.arena.make<ConstExpr>(Expr{ExprKind::Const, expr->type, expr->origin},
                                       result.value().as_tensor());
}

}  // namespace quern::partial
