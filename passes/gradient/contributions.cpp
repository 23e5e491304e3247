#include "passes/gradient/contributions.h"

#include <algorithm>

#include "ir/base/result.h"
#include "passes/dim_conditions.h"
#include "passes/gradient/element_scope.h"
#include "passes/gradient/scalar_rules.h"
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

// The row-major position of the point `vars` within the extents.
Dim row_major(std::span<const Dim> vars, std::span<const Dim> extents) {
  Dim at = dim_const(0);
  for (size_t k = 0; k < vars.size(); ++k) at = dim_add(dim_mul(at, extents[k]), vars[k]);
  return at;
}

class Walk {
 public:
  Walk(const ScalarBuilder& build, Contributions& out) : build_(build), out_(out) {}

  void run(const ComprehensionExpr& comprehension, ExprPtr cotangent) {
    if (auto* e = as<ScatterExpr>(comprehension.body)) return scatter(comprehension, *e, cotangent);
    scope_.enter(comprehension.vars, comprehension.extents);
    go(comprehension.body, build_.read(cotangent, comprehension.vars));
  }

 private:
  void go(ExprPtr expr, ExprPtr cotangent) {
    if (!cotangent || !has_floats(expr)) return;
    visit(expr,
          overloaded{[&](const ReadExpr& e) { read(e, cotangent); },
                     [&](const VarExpr& e) { variable(e, cotangent); },
                     [&](const ScalarExpr& e) {
                       auto parts = scalar_cotangents(build_, e, cotangent);
                       for (size_t k = 0; k < parts.size(); ++k) go(e.args[k], parts[k]);
                     },
                     [&](const IfExpr& e) { branch(e, cotangent); },
                     [&](const BlockExpr& e) { block(e, cotangent); },
                     [&](const ReduceExpr& e) { reduction(e.reduce, e.vars, e.extents, e.body, cotangent); },
                     [&](const ScanExpr& e) { scan(e, cotangent); }, [](const ConstExpr&) {},
                     [](const DimValueExpr&) {},
                     [](const auto&) { QUERN_CHECK(false && "an element holds a node of the graph"); }});
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
    ExprPtr position = nullptr;
    if (kind == ReduceKind::Max || kind == ReduceKind::Min) {
      position = build_.reduce(kind == ReduceKind::Max ? ReduceKind::ArgMax : ReduceKind::ArgMin, vars,
                               extents, body);
      // An empty range has no position: the tensor has no elements and is never read.
      Dim count = dim_product(extents);
      bool some = prove_nonnegative(dim_sub(count, dim_const(1)), Facts());
      position = hoisted(position, some ? nullptr : dim_min(dim_const(1), count));
    }
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
      case ReduceKind::Prod: {
        // The product of the others.
        DimMap renamed;
        std::vector<Dim> others;
        ExprPtr same = nullptr;
        for (Dim var : vars) {
          others.push_back(dim_var(var->name));
          renamed.emplace(var, others.back());
          same = build_.both(same, build_.is_zero(dim_sub(var, others.back())));
        }
        ExprPtr factor = build_.choose(same, build_.constant_like(1, body), build_.copy(body, renamed));
        return build_.mul(cotangent, build_.cast(build_.reduce(ReduceKind::Prod, others, extents, factor),
                                                 cotangent->type->dtype));
      }
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
    ExprPtr sums = bound(build_.comprehension(vars, scope_.extents, sum), "sums");
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
      of_init = build_.mul(of_init, build_.read(factors(whole, e), whole.vars));
      of_value = build_.mul(of_value, build_.mul(build_.read_at(initial(whole, e), places), others(e)));
    } else if (e.scatter != ScatterKind::Add) {
      ExprPtr winner = e.scatter == ScatterKind::Set ? last_writer(whole, e) : first_equal(whole, e);
      of_init =
          build_.where(build_.apply(ScalarOp::Lt, {build_.read(winner, whole.vars), number(0)}), of_init);
      of_value =
          build_.where(build_.apply(ScalarOp::Eq, {build_.read_at(winner, places), position(e)}), of_value);
    }
    const ElementScope::Mark outside = scope_.mark();
    scope_.enter(whole.vars, whole.extents);
    go(e.init, of_init);
    scope_.leave(outside);
    scope_.enter(e.vars, e.extents);
    go(e.value, of_value);
    scope_.leave(outside);
  }

  ExprPtr number(int64_t value) { return build_.constant(static_cast<double>(value), DType::int64()); }
  ExprPtr position(const ScatterExpr& e) {
    return build_.cast(build_.dim(row_major(e.vars, e.extents)), DType::int64());
  }

  // A scatter to the same places with other contents.
  ExprPtr scattered(const ComprehensionExpr& whole, const ScatterExpr& e, ScatterKind kind, ExprPtr init,
                    ExprPtr value, std::string_view name) {
    ExprPtr body = build_.arena().make<ScatterExpr>(Expr{ExprKind::Scatter, init->type, e.origin}, kind,
                                                    e.vars, e.extents, init, e.indices, e.checked, value);
    return bound(build_.copy(build_.comprehension(whole.vars, whole.extents, body)), name);
  }

  // The position of the last value written to each place, -1 if none is.
  ExprPtr last_writer(const ComprehensionExpr& whole, const ScatterExpr& e) {
    return scattered(whole, e, ScatterKind::Set, number(-1), position(e), "writer");
  }

  // For `max=` and `min=`: the position of the first value equal to the place's result, -1 if the initial
  // content is.
  ExprPtr first_equal(const ComprehensionExpr& whole, const ScatterExpr& e) {
    ExprPtr kept = bound(build_.copy(&whole), "kept");
    ExprPtr none = build_.cast(build_.dim(dim_product(e.extents)), DType::int64());
    auto if_kept = [&](ExprPtr content, ExprPtr at_place, ExprPtr then) {
      return build_.choose(build_.apply(ScalarOp::Eq, {content, at_place}), then, none);
    };
    std::vector<ExprPtr> places(e.indices.begin(), e.indices.end());
    return scattered(whole, e, ScatterKind::Min, if_kept(e.init, build_.read(kept, whole.vars), number(-1)),
                     if_kept(e.value, build_.read_at(kept, places), position(e)), "first");
  }

  // The initial content, and the product of the values at each place.
  ExprPtr initial(const ComprehensionExpr& whole, const ScatterExpr& e) {
    return bound(build_.copy(build_.comprehension(whole.vars, whole.extents, e.init)), "initial");
  }
  ExprPtr factors(const ComprehensionExpr& whole, const ScatterExpr& e) {
    return scattered(whole, e, ScatterKind::Multiply, build_.constant_like(1, e.init), e.value, "factors");
  }

  // The product of the other values at a value's place.
  ExprPtr others(const ScatterExpr& e) {
    DimMap renamed;
    std::vector<Dim> vars;
    ExprPtr same_value = nullptr, same_place = nullptr;
    for (Dim var : e.vars) {
      vars.push_back(dim_var(var->name));
      renamed.emplace(var, vars.back());
      same_value = build_.both(same_value, build_.is_zero(dim_sub(var, vars.back())));
    }
    for (ExprPtr index : e.indices)
      same_place = build_.both(same_place,
                               build_.apply(ScalarOp::Eq, {build_.copy(index), build_.copy(index, renamed)}));
    ExprPtr other = same_value ? build_.apply(ScalarOp::Not, {same_value}) : nullptr;
    ExprPtr factor = build_.copy(e.value, renamed), one = build_.constant_like(1, e.value);
    if (ExprPtr counts = build_.both(other, same_place)) factor = build_.choose(counts, factor, one);
    return vars.empty() ? one : build_.reduce(ReduceKind::Prod, vars, e.extents, factor);
  }

  bool rectangular() const {
    return std::ranges::none_of(scope_.extents, [&](Dim extent) {
      return std::ranges::any_of(scope_.vars, [&](Dim var) { return contains_var(extent, var); });
    });
  }

  // The value as a tensor over the variables that it depends on, computed once; the value itself if that is
  // impossible. With `exists`, 0 or 1, the tensor has one more axis of that extent.
  ExprPtr hoisted(ExprPtr value, Dim exists) {
    // In memory a position is an ordinary number.
    const bool is_index = value->type->dtype.is_index();
    auto named = scope_.as_tensor(build_, is_index ? build_.cast(value, DType::int64()) : value);
    const bool is_open =
        exists && std::ranges::any_of(scope_.vars, [&](Dim var) { return contains_var(exists, var); });
    if (!named || is_open) return build_.copy(value);
    const ComprehensionExpr* tensor = named->tensor;
    if (exists) {
      std::vector<Dim> vars{dim_var("e")}, extents{exists};
      vars.insert(vars.end(), tensor->vars.begin(), tensor->vars.end());
      extents.insert(extents.end(), tensor->extents.begin(), tensor->extents.end());
      tensor = as<ComprehensionExpr>(build_.comprehension(vars, extents, tensor->body));
      named->at.insert(named->at.begin(), dim_const(0));
    }
    ExprPtr read = build_.read(bound(tensor, "at"), named->at);
    return is_index ? build_.cast(read, DType::index()) : read;
  }

  ExprPtr bound(ExprPtr tensor, std::string_view name) {
    Arena& arena = build_.arena();
    const Variable* variable = make_variable(arena, name, tensor->type);
    out_.helpers.push_back({variable, tensor});
    return read_of(arena, variable, build_.origin());
  }

  // The cotangents of the uses of a let-bound variable, as values in its scope.
  struct Let {
    ElementScope::Mark bound_at;
    std::vector<ExprPtr> terms;
  };

  const ScalarBuilder& build_;
  Contributions& out_;
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
