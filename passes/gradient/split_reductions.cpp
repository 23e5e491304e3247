#include "passes/gradient/split_reductions.h"

#include <algorithm>

#include "passes/gradient/contributions.h"

namespace quern {

namespace {

bool contains(ExprPtr expr, const std::function<bool(ExprPtr)>& is) {
  bool found = is(expr);
  for_each_child(expr, [&](ExprPtr child) { found = found || contains(child, is); });
  return found;
}
bool reads_floats(ExprPtr expr) {
  return contains(expr, [](ExprPtr e) { return e->kind == ExprKind::Read && e->type->dtype.is_float(); });
}
bool is_reduction(ExprPtr e) { return e->kind == ExprKind::Reduce || e->kind == ExprKind::Scan; }
bool reduces(ExprPtr expr) {
  return contains(expr, [](ExprPtr e) { return is_reduction(e) && reads_floats(e); });
}

class Splitter {
 public:
  Splitter(const ScalarBuilder& build, std::vector<Binding>& bindings) : build_(build), bindings_(bindings) {}

  const ComprehensionExpr* run(const ComprehensionExpr& e) {
    if (!reduces(e.body)) return &e;
    enter(e.vars, e.extents);
    ExprPtr body = linear(e.body);
    if (body == e.body) return &e;
    Expr head = e;
    return build_.arena().make<ComprehensionExpr>(head, e.vars, e.extents, body);
  }

 private:
  void enter(std::span<const Dim> vars, std::span<const Dim> extents) {
    vars_.insert(vars_.end(), vars.begin(), vars.end());
    extents_.insert(extents_.end(), extents.begin(), extents.end());
  }
  template <class F>
  ExprPtr each(ExprPtr expr, F&& f) {
    return map_children(build_.arena(), expr, [&](ExprPtr child) { return f(child); });
  }

  // The value is passed on as it is, or times what no derivative is taken of.
  ExprPtr linear(ExprPtr expr) {
    if (!reduces(expr)) return expr;
    if (is_reduction(expr)) return binder(expr);
    if (auto* e = as<IfExpr>(expr)) {
      ExprPtr condition = nonlinear(e->condition), then_arm = linear(e->then_arm),
              else_arm = linear(e->else_arm);
      Expr head = *e;
      return build_.arena().make<IfExpr>(head, condition, then_arm, else_arm);
    }
    auto* e = as<ScalarExpr>(expr);
    if (!e || !is_linear(*e)) return nonlinear(expr);
    return each(expr, [this](ExprPtr child) { return linear(child); });
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

  // The body of a reduction in a linear position. That of a product is multiplied with itself.
  ExprPtr binder(ExprPtr expr) {
    auto* reduce = as<ReduceExpr>(expr);
    auto* scan = as<ScanExpr>(expr);
    bool product = (reduce ? reduce->reduce : scan->reduce) == ReduceKind::Prod;
    size_t depth = vars_.size();
    reduce ? enter(reduce->vars, reduce->extents) : enter(scan->vars, scan->extents);
    ExprPtr inside = each(expr, [&](ExprPtr child) { return product ? nonlinear(child) : linear(child); });
    vars_.resize(depth);
    extents_.resize(depth);
    return inside;
  }

  ExprPtr nonlinear(ExprPtr expr) {
    if (!reduces(expr)) return expr;
    if (!is_reduction(expr)) return each(expr, [this](ExprPtr child) { return nonlinear(child); });
    std::vector<Dim> vars, extents, fresh;
    DimMap renamed;
    for (size_t k = 0; k < vars_.size(); ++k) {
      if (!mentions(expr, vars_[k])) continue;
      vars.push_back(vars_[k]);
      extents.push_back(extents_[k]);
      fresh.push_back(dim_var(vars_[k]->name));
      renamed.emplace(vars_[k], fresh.back());
    }
    bool open = std::ranges::any_of(extents, [&](Dim extent) {
      return std::ranges::any_of(vars_, [&](Dim var) { return contains_var(extent, var); });
    });
    if (open) return expr;
    ExprPtr tensor = build_.comprehension(fresh, extents, build_.copy(expr, renamed));
    const auto* split = Splitter(build_, bindings_).run(*as<ComprehensionExpr>(tensor));
    const Variable* variable = make_variable(build_.arena(), "reduced", split->type);
    bindings_.push_back({variable, split});
    ExprPtr read = build_.arena().make<VarExpr>(Expr{ExprKind::Var, split->type, expr->origin}, variable);
    return build_.read(read, vars);
  }

  const ScalarBuilder& build_;
  std::vector<Binding>& bindings_;
  std::vector<Dim> vars_, extents_;
};

}  // namespace

const ComprehensionExpr* split_reductions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                                          std::vector<Binding>& bindings) {
  return Splitter(build, bindings).run(comprehension);
}

}  // namespace quern
