#include "passes/gradient/element/split_reductions.h"

#include <algorithm>

#include "passes/gradient/element/contributions.h"
#include "passes/gradient/element/element_scope.h"

namespace quern {

namespace {

bool contains(ExprPtr expr, const std::function<bool(ExprPtr)>& is) {
  bool found = is(expr);
  for_each_child(expr, [&](ExprPtr child) { found = found || contains(child, is); });
  return found;
}
bool reads_floats(ExprPtr expr) {
  return contains(expr, [](ExprPtr e) {
    return (e->kind == ExprKind::Read || e->kind == ExprKind::Var) && e->type->dtype.is_float();
  });
}
bool is_reduction(ExprPtr e) { return e->kind == ExprKind::Reduce || e->kind == ExprKind::Scan; }
bool reduces_floats(ExprPtr expr) {
  return contains(expr, [](ExprPtr e) { return is_reduction(e) && reads_floats(e); });
}

class Splitter {
 public:
  Splitter(const ScalarBuilder& build, std::vector<Binding>& bindings) : build_(build), bindings_(bindings) {}

  const ComprehensionExpr* run(const ComprehensionExpr& e) {
    if (!reduces_floats(e.body)) return &e;
    scope_.enter(e.vars, e.extents);
    ExprPtr body = linear(e.body);
    if (body == e.body) return &e;
    Expr head = e;
    return build_.arena().make<ComprehensionExpr>(head, e.vars, e.extents, body);
  }

 private:
  template <class F>
  ExprPtr each(ExprPtr expr, F&& f) {
    return map_children(build_.arena(), expr, [&](ExprPtr child) { return f(child); });
  }

  // A linear position: the value is used unchanged, or multiplied by a factor that is not differentiated.
  ExprPtr linear(ExprPtr expr) {
    if (!reduces_floats(expr)) return expr;
    if (is_reduction(expr)) return binder(expr);
    auto pass_on = [this](ExprPtr child) { return linear(child); };
    if (auto* e = as<IfExpr>(expr)) return choice(*e, pass_on);
    if (auto* e = as<BlockExpr>(expr)) return block(*e, pass_on);
    auto* e = as<ScalarExpr>(expr);
    if (!e || !is_linear(*e)) return nonlinear(expr);
    return each(expr, pass_on);
  }

  static bool is_linear(const ScalarExpr& e) {
    if (e.is_cast) return e.type->dtype.is_float();
    switch (e.op) {
      case ScalarOp::Add:
      case ScalarOp::Sub:
      case ScalarOp::Neg: return true;
      case ScalarOp::Mul: return !reads_floats(e.args[0]) || !reads_floats(e.args[1]);
      case ScalarOp::Div: return !reads_floats(e.args[1]);
      default: return false;
    }
  }

  template <class F>
  ExprPtr choice(const IfExpr& e, F&& f) {
    ExprPtr condition = nonlinear(e.condition);
    auto arm = [&](ExprPtr holds, ExprPtr body) {
      const ElementScope::Mark outside = scope_.mark();
      scope_.condition(holds);
      ExprPtr result = f(body);
      scope_.leave(outside);
      return result;
    };
    ExprPtr then_arm = arm(condition, e.then_arm);
    ExprPtr else_arm = arm(build_.apply(ScalarOp::Not, {build_.copy(condition)}), e.else_arm);
    Expr head = e;
    return build_.arena().make<IfExpr>(head, condition, then_arm, else_arm);
  }

  // A let-bound value may be used more than once.
  template <class F>
  ExprPtr block(const BlockExpr& e, F&& f) {
    const ElementScope::Mark outside = scope_.mark();
    std::vector<Binding> bindings;
    for (const Binding& b : e.bindings) {
      bindings.push_back({b.variable, nonlinear(b.value)});
      if (b.variable) scope_.let(bindings.back());
    }
    ExprPtr result = f(e.result);
    scope_.leave(outside);
    Expr head = e;
    return build_.arena().make<BlockExpr>(head, build_.arena().copy(bindings), result);
  }

  // The body of a reduction in a linear position; a product's body is nonlinear.
  ExprPtr binder(ExprPtr expr) {
    auto* reduce = as<ReduceExpr>(expr);
    auto* scan = as<ScanExpr>(expr);
    bool product = (reduce ? reduce->reduce : scan->reduce) == ReduceKind::Prod;
    const ElementScope::Mark outside = scope_.mark();
    reduce ? scope_.enter(reduce->vars, reduce->extents) : scope_.enter(scan->vars, scan->extents);
    ExprPtr inside = each(expr, [&](ExprPtr child) { return product ? nonlinear(child) : linear(child); });
    scope_.leave(outside);
    return inside;
  }

  ExprPtr nonlinear(ExprPtr expr) {
    if (!reduces_floats(expr)) return expr;
    auto go_on = [this](ExprPtr child) { return nonlinear(child); };
    if (auto* e = as<IfExpr>(expr)) return choice(*e, go_on);
    if (auto* e = as<BlockExpr>(expr)) return block(*e, go_on);
    if (auto* e = as<ReadExpr>(expr); e && e->otherwise) return read(*e);
    if (!is_reduction(expr)) return each(expr, go_on);
    auto named = scope_.as_tensor(build_, expr);
    if (!named) return expr;
    const auto* split = Splitter(build_, bindings_).run(*named->tensor);
    const Variable* variable = make_variable(build_.arena(), "reduced", split->type);
    bindings_.push_back({variable, split});
    ExprPtr read = build_.arena().make<VarExpr>(Expr{ExprKind::Var, split->type, expr->origin}, variable);
    return build_.read(read, named->at);
  }

  ExprPtr read(const ReadExpr& e) {
    return each(&e, [&](ExprPtr child) {
      ExprPtr inside = child == e.otherwise ? is_inside(build_, e) : nullptr;
      const ElementScope::Mark outside = scope_.mark();
      if (inside) scope_.condition(build_.apply(ScalarOp::Not, {inside}));
      ExprPtr result = nonlinear(child);
      scope_.leave(outside);
      return result;
    });
  }

  const ScalarBuilder& build_;
  std::vector<Binding>& bindings_;
  ElementScope scope_;
};

}  // namespace

const ComprehensionExpr* split_reductions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                                          std::vector<Binding>& bindings) {
  return Splitter(build, bindings).run(comprehension);
}

}  // namespace quern
