// Expressions other than gathers: running results and writes to computed places.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/index/elaborator.h"

namespace quern {

namespace {

/// One of `vars` that occurs in a dim inside the expression, or null.
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
  const size_t outside = around_.size();
  if (!bind_vars(binders, inner, vars, extents)) return nullptr;
  // The bound is an index of the result, including its own element or not.
  auto own = std::ranges::find_if(
      result_vars_, [&](Dim var) { return extents[0] == var || extents[0] == dim_add(var, dim_const(1)); });
  if (own == result_vars_.end())
    return fail(binders,
                fmt::format("a scan runs up to an index of the result, `{0} <= i` or `{0} < i` in `[i] "
                            "=> …`; over a fixed range take a reduction: `sum[{0} < …]`",
                            vars[0]->name));
  ExprPtr body = value(expr->child(1), inner, wanted);
  around_.resize(outside);
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

/// Whether values and places of a scatter read none of the result's indices; otherwise this is reported.
bool IndexElaborator::uses_own_variables(SyntaxPtr scatter, const StaticEnv& outer, const StaticEnv& inner) {
  std::function<SyntaxPtr(SyntaxPtr)> result_index = [&](SyntaxPtr s) -> SyntaxPtr {
    if (!s) return nullptr;
    bool own =
        std::ranges::any_of(scatter->child(0)->children, [&](SyntaxPtr b) { return b->text == s->text; });
    bool index = s->is(SyntaxKind::Name) && inner.contains(s->text) && !outer.contains(s->text) && !own;
    if (index) return s;
    for (SyntaxPtr c : s->children)
      if (SyntaxPtr found = result_index(c)) return found;
    return nullptr;
  };
  for (SyntaxPtr part : scatter->children.subspan(2)) {
    SyntaxPtr name = result_index(part);
    if (!name) continue;
    report(DiagnosticKind::InvalidScatter, name,
           fmt::format("`{}` is an index of the result, which stands before `at` only; what is written, and "
                       "where, runs over the scatter's own variables",
                       name->text));
    return false;
  }
  return true;
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
  if (!uses_own_variables(expr, outer, inner)) return nullptr;
  StaticEnv env = outer;
  std::vector<Dim> vars, extents;
  const std::vector<Dim> around = std::exchange(around_, {});
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
  const std::vector<Dim> own = std::exchange(around_, around);
  if (!init) init = value(first, inner, update->type->dtype);
  if (!init) return nullptr;
  DType dtype = init->type->dtype;
  if (auto op = scatter_op(*kind); dtype.is_index() || (op && !accepts(*op, dtype))) {
    report(DiagnosticKind::DTypeMismatch, added,
           fmt::format("`{}` does not take {}", expr->text, to_string(dtype)));
    return nullptr;
  }
  std::vector<ExprPtr> indices;
  bool* checked = const_cast<bool*>(arena_.copy(std::vector<bool>(at->size(), true)).data());
  for (size_t k = 0; k < at->size(); ++k) {
    indices.push_back((*at)[k].expr);
    // Unproved indices are checked at run time.
    if (auto* dim = as<DimValueExpr>(indices.back()))
      obligations_.push_back({dim->dim, shape[k], (*at)[k].syntax, expr, true, &checked[k], own});
  }
  return arena_.make<ScatterExpr>(Expr{ExprKind::Scatter, scalar_type(dtype), origin(expr)}, *kind,
                                  arena_.copy(vars), arena_.copy(extents), init, arena_.copy(indices),
                                  std::span<const bool>(checked, at->size()), update);
}

ExprPtr IndexElaborator::element(SyntaxPtr syntax, const StaticEnv& env, DType dtype) {
  ExprPtr body = value(syntax, env, dtype);
  if (!body || !prove()) return nullptr;
  return arena_.make<ComprehensionExpr>(Expr{ExprKind::Comprehension, scalar_type(dtype), origin(syntax)},
                                        std::span<const Dim>(), std::span<const Dim>(), body);
}

// --- elements of inner comprehensions, and lets

// `([k < n] => body)[i]` is the body with k replaced by i: no tensor is made.
ExprPtr IndexElaborator::inner_element(SyntaxPtr expr, SyntaxPtr inner, const StaticEnv& env, bool has_else) {
  if (has_else) {
    report(DiagnosticKind::InvalidIndexExpression, expr,
           "`else` follows a read of a tensor: `%x[i - 1] else 0`");
    return nullptr;
  }
  if (!expr->is(SyntaxKind::Index)) {
    report(DiagnosticKind::RankMismatch, expr,
           "an index expression computes one element, and this is a tensor: read one of it, `([k < n] => "
           "…)[i]`");
    return nullptr;
  }
  struct Range {
    SyntaxPtr binder;
    size_t count;
  };
  std::vector<Range> ranges;
  std::vector<Dim> shape;
  for (SyntaxPtr b : inner->child(0)->children) {
    if (!b->child(0)) {
      report(DiagnosticKind::UnknownExtent, b,
             fmt::format("the extent of `{0}` is not known here; write `[{0} < …] =>`", b->text));
      return nullptr;
    }
    auto extent = evaluate(b->child(0), env);
    if (!extent) return nullptr;
    StaticList extents = extent->as_list() ? *extent->as_list() : StaticList{*extent};
    ranges.push_back({b, extents.size()});
    for (const StaticValue& e : extents) {
      if (!e.as_dim() || b->is(SyntaxKind::PackBinder) != (extent->as_list() != nullptr)) {
        report(DiagnosticKind::NotStatic, b, fmt::format("{} is no extent", to_string(*extent)));
        return nullptr;
      }
      shape.push_back(e.as_dim());
    }
  }
  auto at = positions(expr->children.subspan(1), env, shape);
  if (!at) return nullptr;
  if (at->size() != shape.size()) {
    report(DiagnosticKind::RankMismatch, expr,
           fmt::format("{} indices for a tensor of {} dimension{}", at->size(), shape.size(),
                       shape.size() == 1 ? "" : "s"));
    return nullptr;
  }
  StaticEnv body_env = env;
  size_t next = 0;
  for (const Range& range : ranges) {
    StaticList values;
    for (size_t k = 0; k < range.count; ++k, ++next) {
      const Position& p = (*at)[next];
      auto* dim = as<DimValueExpr>(p.expr);
      values.push_back(dim ? StaticValue(dim->dim) : StaticValue(p.expr));
      if (!dim) continue;
      if (auto open = candidates_.find(dim->dim); open != candidates_.end())
        open->second.push_back({shape[next], p.syntax});
      if (!p.trusted)
        obligations_.push_back({dim->dim, shape[next], p.syntax, expr, false, &unchecked_, around_});
    }
    body_env.insert_or_assign(std::string(range.binder->text), range.binder->is(SyntaxKind::PackBinder)
                                                                   ? StaticValue::list(std::move(values))
                                                                   : values[0]);
  }
  return value(inner->child(1), body_env, std::nullopt);
}

const Variable* IndexElaborator::let_bound(SyntaxPtr expr) const {
  if (!expr->is(SyntaxKind::Local)) return nullptr;
  for (auto it = lets_.rbegin(); it != lets_.rend(); ++it)
    if ((*it)->name == expr->text) return *it;
  return nullptr;
}

ExprPtr IndexElaborator::block(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  size_t depth = lets_.size();
  std::vector<Binding> bindings;
  ExprPtr result = nullptr;
  for (SyntaxPtr s : expr->children) {
    bool last = s == expr->children.back();
    if (last && !s->is(SyntaxKind::Let)) {
      result = value(s, env, wanted);
      break;
    }
    std::optional<DType> declared;
    if (SyntaxPtr type = s->is(SyntaxKind::Let) ? s->child(0) : nullptr) {
      auto bound = env.find(type->text);
      bool named = type->is(SyntaxKind::NamedType);
      declared = named && bound != env.end() && bound->second.as_dtype() ? *bound->second.as_dtype()
                 : named                                                 ? parse_dtype(type->text)
                                                                         : std::nullopt;
      if (!declared) {
        report(DiagnosticKind::InvalidIndexExpression, type,
               "a `let` inside an index expression binds one element: its type is a dtype");
        break;
      }
    }
    if (s->is(SyntaxKind::LetPattern)) {
      report(DiagnosticKind::InvalidIndexExpression, s->child(0),
             "a `let` inside an index expression binds one element: take tuples and records apart before it");
      break;
    }
    if (last || !s->is(SyntaxKind::Let) || s->text == "_") {
      report(DiagnosticKind::InvalidIndexExpression, s,
             "a block inside an index expression is `let`s and then the element: `{ let %e = …; %e * %e }`");
      break;
    }
    ExprPtr bound = value(s->child(1), env, declared);
    if (!bound) break;
    lets_.push_back(make_variable(arena_, s->text, bound->type));
    bindings.push_back({lets_.back(), bound});
  }
  lets_.resize(depth);
  if (!result || bindings.empty()) return result;
  return arena_.make<BlockExpr>(Expr{ExprKind::Block, result->type, origin(expr)}, arena_.copy(bindings),
                                result);
}

}  // namespace quern
