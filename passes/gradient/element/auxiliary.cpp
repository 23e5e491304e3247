#include "passes/gradient/element/auxiliary.h"

#include <algorithm>

#include "passes/pass.h"

namespace quern {

Dim row_major(std::span<const Dim> vars, std::span<const Dim> extents) {
  Dim at = dim_const(0);
  for (size_t k = 0; k < vars.size(); ++k) at = dim_add(dim_mul(at, extents[k]), vars[k]);
  return at;
}

ExprPtr Auxiliary::bound(ExprPtr tensor, std::string_view name) {
  Arena& arena = build_.arena();
  const Variable* variable = make_variable(arena, name, tensor->type);
  bindings_.push_back({variable, tensor});
  return read_of(arena, variable, build_.origin());
}

// --- reductions

// The value as a tensor over the variables that it depends on, computed once; the value itself if that is
// impossible. With `exists`, 0 or 1, the tensor has one more axis of that extent.
ExprPtr Auxiliary::hoisted(const ElementScope& scope, ExprPtr value, Dim exists) {
  // In memory a position is an ordinary number.
  const bool is_index = value->type->dtype.is_index();
  auto named = scope.as_tensor(build_, is_index ? build_.cast(value, DType::int64()) : value);
  const bool is_open =
      exists && std::ranges::any_of(scope.vars, [&](Dim var) { return contains_var(exists, var); });
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

ExprPtr Auxiliary::extreme(const ElementScope& scope, ReduceKind kind, std::span<const Dim> vars,
                           std::span<const Dim> extents, ExprPtr body) {
  const ReduceKind which = kind == ReduceKind::Max ? ReduceKind::ArgMax : ReduceKind::ArgMin;
  ExprPtr position = build_.reduce(which, vars, extents, body);
  // An empty range has no position: the tensor has no elements and is never read.
  Dim count = dim_product(extents);
  bool some = prove_nonnegative(dim_sub(count, dim_const(1)), Facts());
  return hoisted(scope, position, some ? nullptr : dim_min(dim_const(1), count));
}

ExprPtr Auxiliary::other_factors(std::span<const Dim> vars, std::span<const Dim> extents, ExprPtr body) {
  DimMap renamed;
  std::vector<Dim> others;
  ExprPtr same = nullptr;
  for (Dim var : vars) {
    others.push_back(dim_var(var->name));
    renamed.emplace(var, others.back());
    same = build_.both(same, build_.is_zero(dim_sub(var, others.back())));
  }
  ExprPtr factor = build_.choose(same, build_.constant_like(1, body), build_.copy(body, renamed));
  return build_.reduce(ReduceKind::Prod, others, extents, factor);
}

// --- scatters

ExprPtr Auxiliary::position(const ScatterExpr& e) {
  return build_.cast(build_.dim(row_major(e.vars, e.extents)), DType::int64());
}

ExprPtr Auxiliary::winner(const ComprehensionExpr& whole, const ScatterExpr& e) {
  return e.scatter == ScatterKind::Set ? last_writer(whole, e) : first_equal(whole, e);
}

// A scatter to the same places with other contents.
ExprPtr Auxiliary::scattered(const ComprehensionExpr& whole, const ScatterExpr& e, ScatterKind kind,
                             ExprPtr init, ExprPtr value, std::string_view name) {
  ExprPtr body = build_.arena().make<ScatterExpr>(Expr{ExprKind::Scatter, init->type, e.origin}, kind, e.vars,
                                                  e.extents, init, e.indices, e.checked, value);
  return bound(build_.copy(build_.comprehension(whole.vars, whole.extents, body)), name);
}

// The position of the last value written to each place, -1 if none is.
ExprPtr Auxiliary::last_writer(const ComprehensionExpr& whole, const ScatterExpr& e) {
  return scattered(whole, e, ScatterKind::Set, number(-1), position(e), "writer");
}

// For `max=` and `min=`: the position of the first value equal to the place's result, -1 if the initial
// content is.
ExprPtr Auxiliary::first_equal(const ComprehensionExpr& whole, const ScatterExpr& e) {
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
ExprPtr Auxiliary::initial(const ComprehensionExpr& whole, const ScatterExpr& e) {
  return bound(build_.copy(build_.comprehension(whole.vars, whole.extents, e.init)), "initial");
}
ExprPtr Auxiliary::factors(const ComprehensionExpr& whole, const ScatterExpr& e) {
  return scattered(whole, e, ScatterKind::Multiply, build_.constant_like(1, e.init), e.value, "factors");
}

// The product of the other values at a value's place.
ExprPtr Auxiliary::others(const ScatterExpr& e) {
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

}  // namespace quern
