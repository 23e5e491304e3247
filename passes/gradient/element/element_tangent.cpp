#include "passes/gradient/element/element_tangent.h"

#include <unordered_map>

#include "ir/base/result.h"
#include "passes/gradient/element/auxiliary.h"
#include "passes/gradient/element/contributions.h"
#include "passes/gradient/element/scalar_rules.h"
#include "passes/pass.h"

namespace quern {

namespace {

// Tangents of values at one place; null is 0. They stand where the values stand, so that they see the same
// `let`s, and share binders with them until the whole is copied.
class TangentWalk {
 public:
  TangentWalk(const ScalarBuilder& build, const TangentOf& tangent_of, std::vector<Binding>& bindings)
      : build_(build), tangent_of_(tangent_of), auxiliary_(build, bindings) {}

  ExprPtr run(const ComprehensionExpr& whole) {
    auto* scattered = as<ScatterExpr>(whole.body);
    if (!scattered) scope_.enter(whole.vars, whole.extents);
    ExprPtr body = scattered ? scatter(whole, *scattered) : go(whole.body);
    if (!body) return nullptr;
    Expr head = whole;
    return build_.copy(build_.arena().make<ComprehensionExpr>(head, whole.vars, whole.extents, body));
  }

 private:
  ExprPtr go(ExprPtr expr) {
    if (!expr->type->dtype.is_float()) return nullptr;
    return visit(
        expr,
        overloaded{[&](const ReadExpr& e) { return read(e); }, [&](const VarExpr& e) { return variable(e); },
                   [&](const ScalarExpr& e) { return scalar(e); }, [&](const IfExpr& e) { return branch(e); },
                   [&](const BlockExpr& e) { return block(e); },
                   [&](const ReduceExpr& e) {
                     return as_of(reduction(e.reduce, e.vars, e.extents, e.body), e.type);
                   },
                   [&](const ScanExpr& e) { return scan(e); },
                   [](const ConstExpr&) -> ExprPtr { return nullptr; },
                   [](const DimValueExpr&) -> ExprPtr { return nullptr; },
                   [](const ScatterExpr&) -> ExprPtr {
                     QUERN_CHECK(false && "a scatter is no element");
                     return nullptr;
                   },
                   [](const GraphNode auto&) -> ExprPtr {
                     QUERN_CHECK(false && "an element holds a node of the graph");
                     return nullptr;
                   }});
  }

  ExprPtr zero(Type type) { return build_.constant(0, type->dtype); }
  ExprPtr as_of(ExprPtr tangent, Type type) { return tangent ? build_.cast(tangent, type->dtype) : nullptr; }
  ExprPtr sum(ExprPtr a, ExprPtr b) { return a && b ? build_.add(a, b) : a ? a : b; }

  // What is computed beside it keeps to the points where the condition holds.
  ExprPtr under(ExprPtr condition, ExprPtr expr) {
    const ElementScope::Mark outside = scope_.mark();
    scope_.condition(condition);
    ExprPtr tangent = go(expr);
    scope_.leave(outside);
    return tangent;
  }
  ExprPtr negation(ExprPtr condition) { return build_.apply(ScalarOp::Not, {build_.copy(condition)}); }

  ExprPtr branch(const IfExpr& e) {
    ExprPtr first = under(e.condition, e.then_arm), second = under(negation(e.condition), e.else_arm);
    return choice(e.condition, first, second);
  }

  ExprPtr choice(ExprPtr condition, ExprPtr first, ExprPtr second) {
    if (!first && !second) return nullptr;
    Type type = (first ? first : second)->type;
    return build_.choose(condition, first ? first : zero(type), second ? second : zero(type));
  }

  ExprPtr read(const ReadExpr& e) {
    auto* tensor = as<VarExpr>(e.tensor);
    ExprPtr of_tensor = tensor ? tangent_of_(tensor->variable) : nullptr;
    ExprPtr inside = e.otherwise ? is_inside(build_, e) : nullptr;
    ExprPtr of_other = inside ? under(negation(inside), e.otherwise) : nullptr;
    if (of_tensor) {
      Expr head = e;
      ExprPtr otherwise = e.otherwise && !of_other ? zero(e.type) : of_other;
      return build_.arena().make<ReadExpr>(head, of_tensor, e.indices, e.checked, otherwise);
    }
    return of_other ? choice(inside, nullptr, of_other) : nullptr;
  }

  // An element of rank 0, or an enclosing `let`'s variable.
  ExprPtr variable(const VarExpr& e) {
    if (auto let = lets_.find(e.variable); let != lets_.end())
      return let->second ? read_of(build_.arena(), let->second, e.origin) : nullptr;
    return tangent_of_(e.variable);
  }

  // Each argument's cotangent is linear in the value's, and their factor is the derivative.
  ExprPtr scalar(const ScalarExpr& e) {
    if (e.is_cast) return as_of(go(e.args[0]), e.type);
    ExprPtr total = nullptr;
    for (size_t k = 0; k < e.args.size(); ++k)
      if (ExprPtr tangent = go(e.args[k])) total = sum(total, scalar_cotangents(build_, e, tangent)[k]);
    return total;
  }

  ExprPtr block(const BlockExpr& e) {
    std::vector<Binding> bindings;
    const ElementScope::Mark outside = scope_.mark();
    for (const Binding& b : e.bindings) {
      ExprPtr tangent = b.variable ? go(b.value) : nullptr;
      bindings.push_back(b);
      if (!b.variable) continue;
      scope_.let(b);
      const Variable* made = tangent ? make_variable(build_.arena(), "d", tangent->type) : nullptr;
      lets_.emplace(b.variable, made);
      if (made) bindings.push_back({made, tangent});
    }
    ExprPtr result = go(e.result);
    scope_.leave(outside);
    return result ? block_of(build_.arena(), bindings, result, e.origin) : nullptr;
  }

  ExprPtr reduction(ReduceKind kind, std::span<const Dim> vars, std::span<const Dim> extents, ExprPtr body) {
    // Over no axes it equals its body.
    if (vars.empty()) return is_arg(kind) ? nullptr : go(body);
    const ElementScope::Mark outside = scope_.mark();
    scope_.enter(vars, extents);
    ExprPtr tangent = go(body);
    scope_.leave(outside);
    if (!tangent) return nullptr;
    switch (kind) {
      case ReduceKind::Sum: break;
      case ReduceKind::Max:
      case ReduceKind::Min: {
        ExprPtr at = auxiliary_.extreme(scope_, kind, vars, extents, body);
        ExprPtr here = build_.dim(row_major(vars, extents));
        tangent = build_.where(build_.apply(ScalarOp::Eq, {here, at}), tangent);
        break;
      }
      case ReduceKind::Prod:
        tangent = build_.mul(tangent, auxiliary_.other_factors(vars, extents, body));
        break;
      case ReduceKind::ArgMax:
      case ReduceKind::ArgMin:
      case ReduceKind::Any:
      case ReduceKind::All: return nullptr;
    }
    return build_.reduce(ReduceKind::Sum, vars, extents, tangent);
  }

  ExprPtr scan(const ScanExpr& e) {
    if (e.reduce != ReduceKind::Sum) return as_of(reduction(e.reduce, e.vars, e.extents, e.body), e.type);
    const ElementScope::Mark outside = scope_.mark();
    scope_.enter(e.vars, e.extents);
    ExprPtr tangent = go(e.body);
    scope_.leave(outside);
    if (!tangent) return nullptr;
    Expr head = e;
    return build_.arena().make<ScanExpr>(head, e.reduce, e.vars, e.extents, tangent);
  }

  // The tangents of what stays: of the initial contents and the values, each with its factor, to the places of
  // the values.
  ExprPtr scatter(const ComprehensionExpr& whole, const ScatterExpr& e) {
    const ElementScope::Mark outside = scope_.mark();
    scope_.enter(whole.vars, whole.extents);
    ExprPtr init = go(e.init);
    scope_.leave(outside);
    scope_.enter(e.vars, e.extents);
    ExprPtr value = go(e.value);
    scope_.leave(outside);
    if (!init && !value) return nullptr;
    std::vector<ExprPtr> places;
    for (ExprPtr index : e.indices) places.push_back(build_.copy(index));
    if (e.scatter == ScatterKind::Multiply) {
      if (init) init = build_.mul(init, build_.read(auxiliary_.factors(whole, e), whole.vars));
      if (value)
        value = build_.mul(
            value, build_.mul(build_.read_at(auxiliary_.initial(whole, e), places), auxiliary_.others(e)));
    } else if (e.scatter != ScatterKind::Add) {
      ExprPtr winner = auxiliary_.winner(whole, e);
      ExprPtr kept = build_.apply(ScalarOp::Lt, {build_.read(winner, whole.vars), auxiliary_.number(0)});
      ExprPtr written = build_.apply(ScalarOp::Eq, {build_.read_at(winner, places), auxiliary_.position(e)});
      if (init) init = build_.where(kept, init);
      if (value) value = build_.where(written, value);
    }
    Expr head = e;
    return build_.arena().make<ScatterExpr>(head, ScatterKind::Add, e.vars, e.extents,
                                            init ? init : zero(e.type), e.indices, e.checked,
                                            value ? value : zero(e.value->type));
  }

  const ScalarBuilder& build_;
  const TangentOf& tangent_of_;
  Auxiliary auxiliary_;
  ElementScope scope_;
  std::unordered_map<const Variable*, const Variable*> lets_;  ///< a `let`'s variable and its tangent
};

}  // namespace

ExprPtr element_tangent(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                        const TangentOf& tangent_of, std::vector<Binding>& bindings) {
  return TangentWalk(build, tangent_of, bindings).run(comprehension);
}

}  // namespace quern
