#include "frontend/index/elaborator.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/syntax/literals.h"

namespace quern {

ExprPtr IndexElaborator::comprehension(SyntaxPtr syntax, const StaticEnv& env,
                                       std::optional<std::vector<Dim>> declared, std::optional<DType> dtype) {
  SyntaxPtr binders = syntax->child(0);
  StaticEnv inner = env;
  std::vector<Dim> vars, extents;
  around_.clear();
  if (declared) {
    size_t next = 0, singles = 0;
    for (SyntaxPtr b : binders->children) singles += b->is(SyntaxKind::Binder);
    bool has_pack = singles != binders->children.size();
    if (declared->size() < singles || (!has_pack && declared->size() != singles)) {
      report(DiagnosticKind::RankMismatch, binders,
             fmt::format("the result has {} dimension{}, but {} index name{} here", declared->size(),
                         declared->size() == 1 ? "" : "s", singles, singles == 1 ? " stands" : "s stand"));
      return nullptr;
    }
    for (SyntaxPtr b : binders->children) {
      size_t count = b->is(SyntaxKind::PackBinder) ? declared->size() - singles : 1;
      StaticList pack;
      for (size_t k = 0; k < count; ++k) {
        vars.push_back(dim_var(count == 1 && b->is(SyntaxKind::Binder) ? std::string(b->text)
                                                                       : fmt::format("{}{}", b->text, k)));
        extents.push_back((*declared)[next++]);
        extents_.emplace(vars.back(), extents.back());
        around_.push_back(vars.back());
        pack.emplace_back(vars.back());
      }
      inner.insert_or_assign(b->text, b->is(SyntaxKind::PackBinder) ? StaticValue::list(std::move(pack))
                                                                    : StaticValue(vars.back()));
    }
  } else if (!bind_vars(binders, inner, vars, extents)) {
    return nullptr;
  }
  for (size_t i = 0; i < extents.size(); ++i) {
    auto known = extents[i] && !declared ? as_const(extents[i]) : std::nullopt;
    if (known && *known < 0) {
      report(DiagnosticKind::DimMismatch, binders, fmt::format("the extent {} is negative", *known));
      return nullptr;
    }
    if (extents[i]) continue;
    report(DiagnosticKind::UnknownExtent, binders->children[i],
           fmt::format("the extent of `{0}` is not known here; write `[{0} < …] =>`",
                       binders->children[i]->text));
    return nullptr;
  }
  result_vars_ = vars;
  SyntaxPtr inside = syntax->child(1);
  while (inside->is(SyntaxKind::Paren)) inside = inside->child(0);
  ExprPtr body = inside->is(SyntaxKind::Scatter) ? scatter(inside, env, inner, extents, dtype)
                                                 : value(inside, inner, dtype);
  if (!body || !prove()) return nullptr;
  // Elements have tensor dtypes: a bare index becomes int64.
  if (!declared && body->type->dtype.is_index()) body = make_cast(inside, body, DType::int64());
  return arena_.make<ComprehensionExpr>(
      Expr{ExprKind::Comprehension, tensor_type(extents, body->type->dtype), origin(syntax)},
      arena_.copy(vars), arena_.copy(extents), body);
}

bool IndexElaborator::bind_vars(SyntaxPtr binders, StaticEnv& env, std::vector<Dim>& vars,
                                std::vector<Dim>& extents) {
  StaticEnv outer = env;
  for (SyntaxPtr b : binders->children) {
    std::optional<StaticValue> extent;
    if (b->child(0)) {
      const std::vector<SyntaxPtr> operands = tensor_operands(b->child(0));
      const bool is_computed = this->extent && !operands.empty() &&
                               std::ranges::none_of(operands, [this](SyntaxPtr o) { return let_bound(o); });
      extent = is_computed ? this->extent(b->child(0), outer) : evaluate(b->child(0), outer);
      if (!extent) return false;
    }
    if (b->is(SyntaxKind::PackBinder)) {
      if (!extent || !extent->as_list()) {
        report(DiagnosticKind::UnknownExtent, b,
               fmt::format("the pack `{0}` needs its extents: `..{0} < shape`", b->text));
        return false;
      }
      StaticList pack;
      for (const StaticValue& e : *extent->as_list()) {
        vars.push_back(dim_var(fmt::format("{}{}", b->text, pack.size())));
        extents.push_back(e.as_dim());
        if (!e.as_dim()) {
          report(DiagnosticKind::NotStatic, b, fmt::format("{} is no extent", to_string(e)));
          return false;
        }
        extents_.emplace(vars.back(), e.as_dim());
        around_.push_back(vars.back());
        pack.emplace_back(vars.back());
      }
      env.insert_or_assign(b->text, StaticValue::list(std::move(pack)));
      continue;
    }
    if (extent && !extent->as_dim()) {
      report(DiagnosticKind::NotStatic, b->child(0), fmt::format("{} is no extent", to_string(*extent)));
      return false;
    }
    vars.push_back(dim_var(b->text));
    extents.push_back(extent ? extent->as_dim() : nullptr);
    around_.push_back(vars.back());
    if (extent)
      extents_.emplace(vars.back(), extent->as_dim());
    else
      candidates_.try_emplace(vars.back());
    env.insert_or_assign(b->text, StaticValue(vars.back()));
  }
  return true;
}

// A reduction variable without a written extent takes that of the dims it indexes alone, which must agree.
bool IndexElaborator::settle_extents(SyntaxPtr binders, const std::vector<Dim>& vars,
                                     std::vector<Dim>& extents) {
  for (size_t i = 0; i < vars.size(); ++i) {
    if (extents[i]) continue;
    const std::vector<Candidate>& found = candidates_[vars[i]];
    if (found.empty()) {
      report(DiagnosticKind::UnknownExtent, binders,
             fmt::format("no read without `else` has `{0}` alone in a position, so its extent has to be "
                         "written: `{0} < …`",
                         vars[i]->name));
      return false;
    }
    for (const Candidate& c : found) {
      if (c.extent == found[0].extent) continue;
      report(DiagnosticKind::DimMismatch, c.syntax,
             fmt::format("`{}` runs over {} here but over {} elsewhere; state that they are equal (one name "
                         "in both types, or `where`)",
                         vars[i]->name, to_string(c.extent), to_string(found[0].extent)),
             {{place(found[0].syntax), fmt::format("here it runs over {}", to_string(found[0].extent))}});
      return false;
    }
    extents[i] = found[0].extent;
    extents_.emplace(vars[i], extents[i]);
    candidates_.erase(vars[i]);
  }
  return true;
}

bool IndexElaborator::prove() {
  bool all = true;
  for (Obligation& o : obligations_) {
    if (scope_.cancelled()) return false;
    // Other loops may be empty: only inside a loop is it known to have a point.
    Facts facts;
    for (Dim var : o.around)
      if (auto extent = extents_.find(var); extent != extents_.end()) facts.add_index(var, extent->second);
    bool holds = prove_nonnegative(o.index, facts) && prove_less(o.index, o.extent, facts);
    *o.checked = !holds;
    if (holds || o.has_else) continue;
    std::string range =
        prove_nonnegative(o.index, facts) ? "not proved to be below" : "not proved to lie in 0 to";
    std::vector<Note> notes;
    for_each_var(o.index, [&](Dim var) {
      if (const Dim* extent = facts.extent_of(var))
        notes.push_back({std::nullopt, fmt::format("`{}` runs from 0 to {}", var->name,
                                                   to_string(dim_sub(*extent, dim_const(1))))});
    });
    report(DiagnosticKind::ReadOutOfBounds, o.syntax,
           fmt::format("this read may be outside the tensor: the index {} is {} the extent {}; add `else "
                       "value` after the read, or a `where`",
                       to_string(o.index), range, to_string(o.extent)),
           std::move(notes));
    all = false;
  }
  obligations_.clear();
  return all;
}

namespace {

/// Whether it contains a literal with a suffix: then it is computed in that dtype, and is not a compile-time
/// number.
bool has_dtype(SyntaxPtr expr) {
  if (expr->is(SyntaxKind::Int) || expr->is(SyntaxKind::Float)) {
    const auto number = parse_number(expr->text);
    return number && number->dtype;
  }
  return std::ranges::any_of(expr->children, [](SyntaxPtr child) { return child && has_dtype(child); });
}

}  // namespace

std::optional<StaticValue> IndexElaborator::try_static(SyntaxPtr expr, const StaticEnv& env) {
  if (!tensor_operands(expr).empty() || has_dtype(expr)) return std::nullopt;
  Diagnostics ignored;
  StaticEvaluator evaluator(scope_, declaration_, ignored);
  evaluator.instance_level = instance_level;
  return evaluator.evaluate(expr, env);
}

// A part of an index outside the compile-time language is a computed index.
std::optional<StaticValue> IndexElaborator::other(SyntaxPtr expr, const StaticEnv& env) {
  ExprPtr computed = as_index(expr, value(expr, env, std::nullopt));
  if (!computed) return std::nullopt;
  if (auto* dim = as<DimValueExpr>(computed)) return StaticValue(dim->dim);
  return StaticValue(computed);
}

std::optional<StaticValue> IndexElaborator::combine(SyntaxPtr expr, const StaticValue& left,
                                                    const StaticValue& right) {
  std::string_view symbol = expr->is(SyntaxKind::Call) ? expr->child(0)->text : expr->text;
  auto op = find_scalar_op(symbol);
  auto operand = [&](const StaticValue& v) {
    return v.as_dim() ? dim_value(expr, v.as_dim()) : v.as_index_expr();
  };
  if (expr->is(SyntaxKind::Unary) && symbol == "-") op = ScalarOp::Neg;
  if (!op || !operand(left) || !operand(right)) return StaticEvaluator::combine(expr, left, right);
  std::vector<ExprPtr> args{operand(left)};
  if (info(*op).arity == 2) args.push_back(operand(right));
  Type type = scalar_type(result_dtype(*op, DType::index()));
  return StaticValue(static_cast<ExprPtr>(
      arena_.make<ScalarExpr>(Expr{ExprKind::Scalar, type, origin(expr)}, *op, false, arena_.copy(args))));
}

ExprPtr IndexElaborator::as_index(SyntaxPtr syntax, ExprPtr expr) {
  if (!expr) return nullptr;
  DType dtype = expr->type->dtype;
  if (dtype.is_index()) return expr;
  if (dtype.is_int() && !dtype.is_vector()) return make_cast(syntax, expr, DType::index());
  report(DiagnosticKind::DTypeMismatch, syntax,
         fmt::format("an index has to be an integer, not {}", to_string(dtype)));
  return nullptr;
}

ExprPtr IndexElaborator::dim_value(SyntaxPtr at, Dim d) {
  return arena_.make<DimValueExpr>(Expr{ExprKind::DimValue, scalar_type(DType::index()), origin(at)}, d);
}

ExprPtr IndexElaborator::constant(SyntaxPtr at, const Scalar& lane, uint16_t lanes) {
  DType dtype = lane.dtype;
  dtype.lanes = lanes;
  TensorPtr tensor = HostTensor::make(dtype, {});
  fill_element(*tensor, 0, lane);
  return arena_.make<ConstExpr>(Expr{ExprKind::Const, scalar_type(dtype), origin(at)},
                                std::shared_ptr<const HostTensor>(tensor));
}

ExprPtr IndexElaborator::make_cast(SyntaxPtr at, ExprPtr expr, DType to) {
  DType from = expr->type->dtype;
  if (from == to) return expr;
  if (from.is_vector() && from.lanes != to.lanes) {
    report(DiagnosticKind::DTypeMismatch, at,
           fmt::format("{} cannot become {}: a vector is converted lane by lane, to vectors of {} lanes",
                       to_string(from), to_string(to), from.lanes));
    return nullptr;
  }
  // For a constant the result is a constant, like a number without a dtype.
  if (auto* value = as<DimValueExpr>(expr))
    if (auto number = as_const(value->dim))
      return constant(at, cast(Scalar::from_int(from, *number), to.lane()), to.lanes);
  if (auto* number = as<ConstExpr>(expr); number && from.has_one_lane()) {
    Scalar lane{from};
    std::copy_n(number->value->data(), from.bytes(), reinterpret_cast<std::byte*>(&lane.bits));
    return constant(at, cast(lane, to.lane()), to.lanes);
  }
  return arena_.make<ScalarExpr>(Expr{ExprKind::Scalar, scalar_type(to), origin(at)}, ScalarOp::Add, true,
                                 arena_.copy(std::vector<ExprPtr>{expr}));
}

// --- reads

std::optional<IndexElaborator::Position> IndexElaborator::position(SyntaxPtr syntax, const StaticValue& v) {
  if (v.as_dim()) return Position{dim_value(syntax, v.as_dim()), syntax};
  if (v.as_index_expr()) return Position{v.as_index_expr(), syntax};
  report(DiagnosticKind::InvalidIndexExpression, syntax,
         v.as_list() ? fmt::format("`{0}` is a pack of indices: `..{0}` stands for all of them", syntax->text)
                     : fmt::format("{} is no index", to_string(v)));
  return std::nullopt;
}

std::optional<std::vector<IndexElaborator::Position>> IndexElaborator::positions(
    std::span<const SyntaxPtr> list, const StaticEnv& env, std::span<const Dim> shape) {
  std::vector<Position> out;
  for (SyntaxPtr item : list) {
    if (item->is(SyntaxKind::Slice) || item->is(SyntaxKind::Ellipsis)) {
      report(DiagnosticKind::InvalidIndexExpression, item,
             "a slice cannot stand in an index expression: write each index");
      return std::nullopt;
    }
    if (item->is(SyntaxKind::BroadcastSpread)) {
      auto pack = env.find(item->text);
      const StaticList* items = pack == env.end() ? nullptr : pack->second.as_list();
      if (!items || items->size() < shape.size() || list.size() != 1) {
        report(DiagnosticKind::InvalidIndexExpression, item,
               fmt::format("`~{}` is a broadcast read: the only item, of a pack of at least {} indices",
                           item->text, shape.size()));
        return std::nullopt;
      }
      // Index 0 if the extent is 1, otherwise the index itself, which is then below the extent: min(i, extent
      // - 1).
      for (size_t k = 0; k < shape.size(); ++k) {
        Dim i = (*items)[items->size() - shape.size() + k].as_dim();
        out.push_back({dim_value(item, dim_min(i, dim_sub(shape[k], dim_const(1)))), item, true});
      }
      continue;
    }
    bool spread = item->is(SyntaxKind::Spread);
    auto v = evaluate(spread ? item->child(0) : item, env);
    if (!v) return std::nullopt;
    if (spread && !v->as_list()) {
      report(DiagnosticKind::InvalidIndexExpression, item, "`..` takes a pack");
      return std::nullopt;
    }
    for (const StaticValue& one : spread ? *v->as_list() : StaticList{*v}) {
      auto p = position(item, one);
      if (!p) return std::nullopt;
      out.push_back(*p);
    }
  }
  return out;
}

ExprPtr IndexElaborator::named_tensor(SyntaxPtr at) {
  while (at->is(SyntaxKind::Paren)) at = at->child(0);
  if (is_operand(at)) return operand_(at);
  report(DiagnosticKind::InvalidIndexExpression, at,
         "an index expression reads tensors by name: bind this one first, `let %t = …;`, and read `%t[i]`");
  return nullptr;
}

// A member `%xs[k]` of a tuple of tensors, k known at compile time.
ExprPtr IndexElaborator::member(SyntaxPtr expr, const StaticEnv& env) {
  ExprPtr tuple = named_tensor(expr->child(0));
  auto k = expr->children.size() == 2 ? evaluate(expr->child(1), env) : std::nullopt;
  if (!tuple || !k) return nullptr;
  auto at = k->as_int();
  if (tuple->type->kind != TypeKind::Tuple || !at || *at < 0 ||
      *at >= static_cast<int64_t>(tuple->type->args.size())) {
    report(DiagnosticKind::TypeMismatch, expr,
           fmt::format("{} has no member {}", to_string(tuple->type), to_string(*k)));
    return nullptr;
  }
  Type type = tuple->type->args[static_cast<size_t>(*at)];
  return arena_.make<FieldExpr>(Expr{ExprKind::Field, type, origin(expr)}, tuple, static_cast<uint32_t>(*at),
                                std::string_view());
}

ExprPtr IndexElaborator::read_base(SyntaxPtr expr, const StaticEnv& env) {
  SyntaxPtr base = expr->is(SyntaxKind::Index) ? expr->child(0) : expr;
  while (base->is(SyntaxKind::Paren)) base = base->child(0);
  if (const Variable* element = let_bound(base))
    return arena_.make<VarExpr>(Expr{ExprKind::Var, element->type, origin(base)}, element);
  return base->is(SyntaxKind::Index) ? member(base, env) : named_tensor(base);
}

ExprPtr IndexElaborator::read(SyntaxPtr expr, const StaticEnv& env, ExprPtr otherwise, bool has_else) {
  SyntaxPtr base = expr->is(SyntaxKind::Index) ? expr->child(0) : expr;
  while (base->is(SyntaxKind::Paren)) base = base->child(0);
  if (base->is(SyntaxKind::Comprehension)) return inner_element(expr, base, env, has_else);
  std::vector<Position> at;
  ExprPtr tensor = read_base(expr, env);
  if (!tensor) return nullptr;
  Type type = tensor->type;
  if (!type->is_tensor()) {
    report(DiagnosticKind::TypeMismatch, base,
           fmt::format("only tensors can be read by index, and this is {}", to_string(type)));
    return nullptr;
  }
  if (expr->is(SyntaxKind::Index)) {
    auto found = positions(expr->children.subspan(1), env, type->dims);
    if (!found) return nullptr;
    at = std::move(*found);
  }
  if (at.size() != type->dims.size()) {
    if (!expr->is(SyntaxKind::Index))
      report(DiagnosticKind::RankMismatch, expr,
             fmt::format("an index expression computes one element: read one of this {}, `…[i]`",
                         to_string(type)));
    else
      report(DiagnosticKind::RankMismatch, expr,
             fmt::format("{} {} for a tensor of {} dimension{}: {}", at.size(),
                         at.size() == 1 ? "index" : "indices", type->dims.size(),
                         type->dims.size() == 1 ? "" : "s", to_string(type)));
    return nullptr;
  }
  std::vector<ExprPtr> indices;
  bool* checked = const_cast<bool*>(arena_.copy(std::vector<bool>(at.size())).data());
  for (size_t k = 0; k < at.size(); ++k) {
    indices.push_back(at[k].expr);
    if (at[k].trusted) continue;
    auto* dim = as<DimValueExpr>(at[k].expr);
    if (!dim) {
      checked[k] = true;
      continue;
    }
    if (auto open = candidates_.find(dim->dim); open != candidates_.end() && !has_else)
      open->second.push_back({type->dims[k], at[k].syntax});
    obligations_.push_back({dim->dim, type->dims[k], at[k].syntax, expr, has_else, &checked[k], around_});
  }
  return arena_.make<ReadExpr>(Expr{ExprKind::Read, scalar_type(type->dtype), origin(expr)}, tensor,
                               arena_.copy(indices), std::span<const bool>(checked, at.size()), otherwise);
}

// The members of `f(e for k < n)`, each with its k.
bool IndexElaborator::family(SyntaxPtr call, const StaticEnv& env,
                             std::vector<std::pair<SyntaxPtr, StaticEnv>>& reads) {
  for (SyntaxPtr arg : call->children.subspan(1)) {
    if (!arg->is(SyntaxKind::Generator)) {
      reads.emplace_back(arg, env);
      continue;
    }
    auto limit = dim(arg->child(1), env);
    if (!limit || !as_const(*limit)) return false;
    StaticEnv inner = env;
    for (int64_t k = 0; k < *as_const(*limit); ++k) {
      inner.insert_or_assign(arg->text, StaticValue::integer(k));
      reads.emplace_back(arg->child(0), inner);
    }
  }
  return true;
}

// `first(read for k < n) else e`: the first read that is in bounds.
ExprPtr IndexElaborator::read_else(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  SyntaxPtr source = expr->child(0);
  std::vector<std::pair<SyntaxPtr, StaticEnv>> reads;
  if (source->is(SyntaxKind::Call) && source->child(0)->text == "first") {
    if (!family(source, env, reads)) return nullptr;
    if (!reads.empty() && !reads[0].first->is(SyntaxKind::Index)) {
      report(DiagnosticKind::InvalidIndexExpression, reads[0].first,
             "`first` chooses among reads: `first(%x[i - k] for k < 2) else 0`");
      return nullptr;
    }
  } else if (source->is(SyntaxKind::Index)) {
    reads.emplace_back(source, env);
  } else {
    report(DiagnosticKind::InvalidIndexExpression, source, "`else` follows a read: `%x[i - 1] else 0`");
    return nullptr;
  }
  // The reads determine the dtype of the fallback value.
  if (!wanted && !reads.empty())
    if (ExprPtr tensor = read_base(reads[0].first, reads[0].second); tensor && tensor->type->is_tensor())
      wanted = tensor->type->dtype;
  ExprPtr result = value(expr->child(1), env, wanted);
  for (auto it = reads.rbegin(); result && it != reads.rend(); ++it) {
    SyntaxPtr r = it->first;
    result = expect(r, read(r, it->second, result, true), result->type->dtype);
  }
  return result;
}

}  // namespace quern
