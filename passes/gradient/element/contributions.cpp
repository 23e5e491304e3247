#include "passes/gradient/element/contributions.h"

#include <algorithm>

#include "ir/base/result.h"
#include "passes/dim_conditions.h"
#include "passes/gradient/element/auxiliary.h"
#include "passes/gradient/element/element_scope.h"
#include "passes/gradient/element/scalar_rules.h"
#include "passes/pass.h"

namespace quern {

namespace {

bool has_floats(ExprPtr expr) {
  const bool is_value = expr->kind == ExprKind::Read || expr->kind == ExprKind::Var;
  if (is_value && expr->type->dtype.is_float()) return true;
  bool found = false;
  for_each_child(expr, [&](ExprPtr child) { found = found || has_floats(child); });
  return found;
}

class Walk {
 public:
  Walk(const ScalarBuilder& build, Contributions& out)
      : build_(build), out_(out), auxiliary_(build, out.helpers) {}

  void run(const ComprehensionExpr& comprehension, ExprPtr cotangent) {
    if (auto* e = as<ScatterExpr>(comprehension.body)) return scatter(comprehension, *e, cotangent);
    scope_.enter(comprehension.vars, comprehension.extents);
    go(comprehension.body, build_.read(cotangent, comprehension.vars));
  }

 private:
  void go(ExprPtr expr, ExprPtr cotangent) {
    if (!cotangent || !has_floats(expr)) return;
    visit(
        expr,
        overloaded{
            [&](const ReadExpr& e) { read(e, cotangent); }, [&](const VarExpr& e) { variable(e, cotangent); },
            [&](const ScalarExpr& e) {
              auto parts = scalar_cotangents(build_, e, cotangent);
              for (size_t k = 0; k < parts.size(); ++k) go(e.args[k], parts[k]);
            },
            [&](const IfExpr& e) { branch(e, cotangent); }, [&](const BlockExpr& e) { block(e, cotangent); },
            [&](const ReduceExpr& e) { reduction(e.reduce, e.vars, e.extents, e.body, cotangent); },
            [&](const ScanExpr& e) { scan(e, cotangent); }, [](const ConstExpr&) {},
            [](const DimValueExpr&) {},
            [](const ScatterExpr&) { QUERN_CHECK(false && "a scatter is no element"); },
            [](const GraphNode auto&) { QUERN_CHECK(false && "an element holds a node of the graph"); }});
  }

  void add(const Variable* tensor, const ReadExpr* at, ExprPtr cotangent) {
    auto known = std::ranges::find(out_.of, tensor, [](const auto& entry) { return entry.first; });
    if (known == out_.of.end()) known = out_.of.insert(known, {tensor, {}});
    known->second.push_back({at, scope_.vars, scope_.extents, scope_.zero, scope_.nonnegative,
                             scope_.holds(build_), scope_.within(build_, cotangent)});
  }

  void read(const ReadExpr& e, ExprPtr cotangent) {
    if (auto* tensor = as<VarExpr>(e.tensor); tensor && e.type->dtype.is_float())
      add(tensor->variable, as<ReadExpr>(with_lets_in_indices(e)), cotangent);
    if (!e.otherwise) return;
    if (ExprPtr inside = is_inside(build_, e)) under(negation(inside), e.otherwise, cotangent);
  }

  // An element of rank 0, or an enclosing `let`'s variable.
  void variable(const VarExpr& e, ExprPtr cotangent) {
    auto let = lets_.find(e.variable);
    if (let != lets_.end())
      let->second.terms.push_back(scope_.summed(build_, cotangent, let->second.bound_at));
    else if (e.type->dtype.is_float())
      add(e.variable, as<ReadExpr>(build_.read(&e, {})), cotangent);
  }

  // From the last binding to the first, each receives the sum of its uses' cotangents.
  void block(const BlockExpr& e, ExprPtr cotangent) {
    const ElementScope::Mark outside = scope_.mark();
    for (const Binding& b : e.bindings)
      if (b.variable) scope_.let(b);
    for (const Binding& b : e.bindings) lets_.emplace(b.variable, Let{scope_.mark(), {}});
    go(e.result, cotangent);
    for (size_t k = e.bindings.size(); k-- > 0;) {
      const Binding& b = e.bindings[k];
      auto node = lets_.extract(b.variable);
      ExprPtr total = nullptr;
      for (ExprPtr term : node.mapped().terms) total = total ? build_.add(total, term) : term;
      if (!total) continue;
      // Bound to a variable, so that the result grows only linearly with the program.
      const Variable* cotangent_of = make_variable(build_.arena(), "d", total->type);
      scope_.let({cotangent_of, total});
      for (const Binding& earlier : e.bindings)
        if (auto let = lets_.find(earlier.variable); let != lets_.end()) let->second.bound_at = scope_.mark();
      go(b.value,
         build_.arena().make<VarExpr>(Expr{ExprKind::Var, total->type, build_.origin()}, cotangent_of));
    }
    scope_.leave(outside);
  }

  // Puts enclosing `let`s into the indices of a read that use them.
  ExprPtr with_lets_in_indices(const ReadExpr& e) {
    return map_children(build_.arena(), &e, [&](ExprPtr child) {
      return child == e.tensor || child == e.otherwise ? child : scope_.with_lets(build_, child);
    });
  }

  ExprPtr negation(ExprPtr condition) { return build_.apply(ScalarOp::Not, {condition}); }

  void under(ExprPtr condition, ExprPtr expr, ExprPtr cotangent) {
    const ElementScope::Mark outside = scope_.mark();
    scope_.condition(condition);
    go(expr, cotangent);
    scope_.leave(outside);
  }

  void branch(const IfExpr& e, ExprPtr cotangent) {
    const ElementScope::Mark outside = scope_.mark();
    if (dim_conditions(e.condition, scope_.nonnegative, scope_.zero)) {
      go(e.then_arm, cotangent);
    } else {
      scope_.leave(outside);
      under(build_.copy(e.condition), e.then_arm, cotangent);
    }
    scope_.leave(outside);
    under(negation(build_.copy(e.condition)), e.else_arm, cotangent);
  }

  void reduction(ReduceKind kind, std::span<const Dim> vars, std::span<const Dim> extents, ExprPtr body,
                 ExprPtr cotangent) {
    // Over no axes it equals its body.
    if (vars.empty()) return is_arg(kind) ? void() : go(body, build_.cast(cotangent, body->type->dtype));
    const ElementScope::Mark outside = scope_.mark();
    ExprPtr position = kind == ReduceKind::Max || kind == ReduceKind::Min
                           ? auxiliary_.extreme(scope_, kind, vars, extents, body)
                           : nullptr;
    scope_.enter(vars, extents);
    cotangent = of_element(kind, vars, extents, body, position, cotangent);
    // A 16-bit float is summed in float32; the cotangents of the parts are of its own dtype.
    if (cotangent) go(body, build_.cast(cotangent, body->type->dtype));
    scope_.leave(outside);
  }

  // The share of a reduction's cotangent for the value at one point.
  ExprPtr of_element(ReduceKind kind, std::span<const Dim> vars, std::span<const Dim> extents, ExprPtr body,
                     ExprPtr position, ExprPtr cotangent) {
    switch (kind) {
      case ReduceKind::Sum: return cotangent;
      case ReduceKind::Max:
      case ReduceKind::Min:
        return build_.where(build_.apply(ScalarOp::Eq, {build_.dim(row_major(vars, extents)), position}),
                            cotangent);
      case ReduceKind::Prod:
        return build_.mul(cotangent,
                          build_.cast(auxiliary_.other_factors(vars, extents, body), cotangent->type->dtype));
      case ReduceKind::ArgMax:
      case ReduceKind::ArgMin:
      case ReduceKind::Any:
      case ReduceKind::All: return nullptr;
    }
    return nullptr;
  }

  // `scan[k <= i] + f(k)`: f(k) contributes to the sums at k and after, so it receives the sum of their
  // cotangents: a running sum from the end.
  void scan(const ScanExpr& e, ExprPtr cotangent) {
    Dim k = e.vars[0], ahead = nullptr;
    size_t axis = scope_.vars.size();
    for (size_t j = 0; j < scope_.vars.size(); ++j)
      if (contains_var(e.extents[0], scope_.vars[j])) axis = j;
    if (axis < scope_.vars.size()) ahead = dim_sub(e.extents[0], scope_.vars[axis]);
    bool plain = e.reduce == ReduceKind::Sum && ahead && (is_const(ahead, 0) || is_const(ahead, 1)) &&
                 scope_.is_bare() && rectangular() && !mentions(e.body, scope_.vars[axis]);
    if (!plain) return reduction(e.reduce, e.vars, e.extents, e.body, cotangent);
    Dim i = scope_.vars[axis], n = scope_.extents[axis];
    // sums[.., p] is the sum of the cotangents of the last p + 1 positions.
    Dim p = dim_var("p"), back = dim_var("k");
    ExprPtr body = build_.copy(cotangent, DimMap{{i, dim_sub(dim_sub(n, dim_const(1)), back)}});
    std::vector<Dim> back_vars{back}, back_extents{dim_add(p, dim_const(1))};
    ExprPtr sum = build_.arena().make<ScanExpr>(Expr{ExprKind::Scan, body->type, build_.origin()},
                                                ReduceKind::Sum, build_.arena().copy(back_vars),
                                                build_.arena().copy(back_extents), body);
    std::vector<Dim> vars = scope_.vars;
    vars[axis] = p;
    ExprPtr sums = auxiliary_.bound(build_.comprehension(vars, scope_.extents, sum), "sums");
    // From here on k runs over the whole axis.
    const ElementScope outer = scope_;
    scope_.vars[axis] = k;
    Dim last = dim_sub(dim_sub(n, k), ahead->value == 1 ? dim_const(1) : dim_const(2));
    if (ahead->value == 0) scope_.nonnegative.push_back(last);
    std::vector<Dim> at = scope_.vars;
    at[axis] = last;
    go(e.body, build_.read(sums, at));
    scope_ = outer;
  }

  // For `+=`, each added value receives its place's cotangent. For the other kinds, the initial content and
  // each value receive a part of it.
  void scatter(const ComprehensionExpr& whole, const ScatterExpr& e, ExprPtr cotangent) {
    std::vector<ExprPtr> places;
    for (ExprPtr index : e.indices) places.push_back(build_.copy(index));
    ExprPtr of_init = build_.read(cotangent, whole.vars), of_value = build_.read_at(cotangent, places);
    if (e.scatter == ScatterKind::Multiply) {
      of_init = build_.mul(of_init, build_.read(auxiliary_.factors(whole, e), whole.vars));
      of_value = build_.mul(
          of_value, build_.mul(build_.read_at(auxiliary_.initial(whole, e), places), auxiliary_.others(e)));
    } else if (e.scatter != ScatterKind::Add) {
      ExprPtr winner = auxiliary_.winner(whole, e);
      of_init = build_.where(
          build_.apply(ScalarOp::Lt, {build_.read(winner, whole.vars), auxiliary_.number(0)}), of_init);
      of_value = build_.where(
          build_.apply(ScalarOp::Eq, {build_.read_at(winner, places), auxiliary_.position(e)}), of_value);
    }
    const ElementScope::Mark outside = scope_.mark();
    scope_.enter(whole.vars, whole.extents);
    go(e.init, of_init);
    scope_.leave(outside);
    scope_.enter(e.vars, e.extents);
    go(e.value, of_value);
    scope_.leave(outside);
  }

  bool rectangular() const {
    return std::ranges::none_of(scope_.extents, [&](Dim extent) {
      return std::ranges::any_of(scope_.vars, [&](Dim var) { return contains_var(extent, var); });
    });
  }

  // The cotangents of the uses of a let-bound variable, as values in its scope.
  struct Let {
    ElementScope::Mark bound_at;
    std::vector<ExprPtr> terms;
  };

  const ScalarBuilder& build_;
  Contributions& out_;
  Auxiliary auxiliary_;
  ElementScope scope_;
  std::unordered_map<const Variable*, Let> lets_;
};

}  // namespace

Contributions contributions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                            ExprPtr cotangent) {
  Contributions out;
  Walk(build, out).run(comprehension, cotangent);
  return out;
}

ExprPtr is_inside(const ScalarBuilder& build, const ReadExpr& read) {
  ExprPtr inside = nullptr;
  for (size_t k = 0; k < read.indices.size(); ++k) {
    if (!read.checked[k]) continue;
    ExprPtr index = build.copy(read.indices[k]);
    inside = build.both(inside, build.apply(ScalarOp::Ge, {index, build.dim(dim_const(0))}));
    inside = build.both(inside, build.apply(ScalarOp::Lt, {index, build.dim(read.tensor->type->dims[k])}));
  }
  return inside;
}

}  // namespace quern
