// The forms that a gather cannot say: running results and writes at computed places.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/index_elaborator.h"

namespace quern {

namespace {

/// Whether one of `vars` stands in a dim inside the expression.
Dim find_var(ExprPtr expr, std::span<const Dim> vars) {
  Dim found = nullptr;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    auto look = [&](Dim dim) {
      for (Dim var : vars)
        if (!found && contains_var(dim, var)) found = var;
    };
    if (auto* value = as<DimValueExpr>(e)) look(value->dim);
    if (auto* reduce = as<ReduceExpr>(e)) std::ranges::for_each(reduce->extents, look);
    if (auto* scan = as<ScanExpr>(e)) std::ranges::for_each(scan->extents, look);
    for_each_child(e, walk);
  };
  walk(expr);
  return found;
}

std::optional<ReduceKind> scan_kind(std::string_view symbol) {
  if (symbol == "+") return ReduceKind::Sum;
  if (symbol == "*") return ReduceKind::Prod;
  if (symbol == "max") return ReduceKind::Max;
  if (symbol == "min") return ReduceKind::Min;
  return std::nullopt;
}

}  // namespace

ExprPtr IndexElaborator::scan(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  auto fail = [&](SyntaxPtr at, std::string message) {
    report(DiagnosticKind::InvalidScan, at, std::move(message));
    return nullptr;
  };
  auto kind = scan_kind(expr->text);
  if (!kind)
    return fail(expr, fmt::format("a scan runs with `+`, `*`, `max` or `min`, not `{}`", expr->text));
  SyntaxPtr binders = expr->child(0);
  bool one = binders->children.size() == 1 && binders->child(0)->is(SyntaxKind::Binder);
  if (!one || !binders->child(0)->child(0))
    return fail(binders, "a scan has one variable with a bound: `scan[k <= i]` or `scan[k < i]`");
  StaticEnv inner = env;
  std::vector<Dim> vars, extents;
  if (!bind_vars(binders, inner, vars, extents)) return nullptr;
  // The bound is an index of the result, with or without its own element.
  auto own = std::ranges::find_if(
      result_vars_, [&](Dim var) { return extents[0] == var || extents[0] == dim_add(var, dim_const(1)); });
  if (own == result_vars_.end())
    return fail(binders,
                fmt::format("a scan runs up to an index of the result, `{0} <= i` or `{0} < i` in `[i] "
                            "=> …`; over a fixed range take a reduction: `sum[{0} < …]`",
                            vars[0]->name));
  ExprPtr body = value(expr->child(1), inner, wanted);
  if (!body) return nullptr;
  if (find_var(body, {{*own}}))
    return fail(expr->child(1),
                fmt::format("what a scan adds up does not depend on how far it runs: `{}` cannot "
                            "stand in its body, only `{}`",
                            (*own)->name, vars[0]->name));
  DType dtype = body->type->dtype;
  if (!accepts(ScalarOp::Add, dtype) || dtype.is_index()) {
    report(DiagnosticKind::DTypeMismatch, expr->child(1),
           fmt::format("a scan is over numbers, not {}{}", to_string(dtype),
                       dtype.is_index() ? "; convert the index: `cast<int64>(…)`" : ""));
    return nullptr;
  }
  return expect(expr,
                arena_.make<ScanExpr>(Expr{ExprKind::Scan, scalar_type(dtype), origin(expr)}, *kind,
                                      arena_.copy(vars), arena_.copy(extents), body),
                wanted);
}

ExprPtr IndexElaborator::scatter(SyntaxPtr expr, const StaticEnv& outer, const StaticEnv& inner,
                                 std::span<const Dim> shape, std::optional<DType> wanted) {
  auto kind = find_scatter_kind(expr->text);
  if (!kind) {
    report(DiagnosticKind::InvalidScatter, expr,
           fmt::format("a scatter writes with `=`, `+=`, `*=`, `max=` or `min=`, not `{}`", expr->text));
    return nullptr;
  }
  SyntaxPtr first = expr->child(1), added = expr->child(2);
  bool literal = first->is(SyntaxKind::Int) || first->is(SyntaxKind::Float);
  ExprPtr init = literal && !wanted ? nullptr : value(first, inner, wanted);
  if (!init && !(literal && !wanted)) return nullptr;
  // What is written, and where, is over the scatter's own variables.
  std::function<SyntaxPtr(SyntaxPtr)> result_index = [&](SyntaxPtr s) -> SyntaxPtr {
    if (!s) return nullptr;
    bool own = std::ranges::any_of(expr->child(0)->children, [&](SyntaxPtr b) { return b->text == s->text; });
    bool index = s->is(SyntaxKind::Name) && inner.contains(s->text) && !outer.contains(s->text) && !own;
    if (index) return s;
    for (SyntaxPtr c : s->children)
      if (SyntaxPtr found = result_index(c)) return found;
    return nullptr;
  };
  for (SyntaxPtr part : expr->children.subspan(2)) {
    SyntaxPtr name = result_index(part);
    if (!name) continue;
    report(DiagnosticKind::InvalidScatter, name,
           fmt::format("`{}` is an index of the result, which stands before `at` only; what is written, and "
                       "where, runs over the scatter's own variables",
                       name->text));
    return nullptr;
  }
  StaticEnv env = outer;
  std::vector<Dim> vars, extents;
  if (!bind_vars(expr->child(0), env, vars, extents)) return nullptr;
  for (size_t i = 0; i < vars.size(); ++i) {
    if (extents[i]) continue;
    report(DiagnosticKind::UnknownExtent, expr->child(0),
           fmt::format("how far `{0}` runs has to be written: `scatter[{0} < …]`", vars[i]->name));
    return nullptr;
  }
  auto at = positions(expr->children.subspan(3), env, shape);
  if (!at) return nullptr;
  if (at->size() != shape.size()) {
    report(DiagnosticKind::RankMismatch, expr,
           fmt::format("a scatter into {} dimension{} needs as many indices after `at`, not {}", shape.size(),
                       shape.size() == 1 ? "" : "s", at->size()));
    return nullptr;
  }
  ExprPtr update = value(added, env, init ? std::optional(init->type->dtype) : wanted);
  if (!update) return nullptr;
  if (!init) init = value(first, inner, update->type->dtype);
  if (!init) return nullptr;
  DType dtype = init->type->dtype;
  if (auto op = scatter_op(*kind); dtype.is_index() || (op && !accepts(*op, dtype))) {
    report(DiagnosticKind::DTypeMismatch, added,
           fmt::format("`{}` does not take {}", expr->text, to_string(dtype)));
    return nullptr;
  }
  std::vector<ExprPtr> indices;
  std::vector<char> none(at->size(), 1);
  bool* checked = const_cast<bool*>(reinterpret_cast<const bool*>(arena_.copy(none).data()));
  for (size_t k = 0; k < at->size(); ++k) {
    indices.push_back((*at)[k].expr);
    // What is not proved is checked at run time.
    if (auto* dim = as<DimValueExpr>(indices.back()))
      obligations_.push_back({dim->dim, shape[k], (*at)[k].syntax, expr, true, &checked[k]});
  }
  return arena_.make<ScatterExpr>(Expr{ExprKind::Scatter, scalar_type(dtype), origin(expr)}, *kind,
                                  arena_.copy(vars), arena_.copy(extents), init, arena_.copy(indices),
                                  std::span<const bool>(checked, at->size()), update);
}

}  // namespace quern
