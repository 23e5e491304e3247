// The value side of index expressions: scalars, their dtypes, reductions.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/index/elaborator.h"
#include "frontend/static/builtins.h"
#include "frontend/syntax/literals.h"

namespace quern {

namespace {

std::string conversion_to(DType dtype) {
  return dtype.is_index() ? "index(" : fmt::format("cast<{}>(", to_string(dtype));
}

}  // namespace

Fix IndexElaborator::conversion_fix(SyntaxPtr operand, DType to) const {
  Place before = place(operand), after = place(operand);
  before.part = Part::Before;
  after.part = Part::After;
  return {fmt::format("write `{}…)`", conversion_to(to)), {{before, conversion_to(to)}, {after, ")"}}};
}

ExprPtr IndexElaborator::expect(SyntaxPtr at, ExprPtr expr, std::optional<DType> wanted) {
  if (!expr || !wanted || expr->type->dtype == *wanted) return expr;
  bool numbers =
      !expr->type->dtype.is_bool() && !wanted->is_bool() && expr->type->dtype.lanes == wanted->lanes;
  report(DiagnosticKind::DTypeMismatch, at,
         fmt::format("this is {} where {} is wanted{}", to_string(expr->type->dtype), to_string(*wanted),
                     numbers ? fmt::format("; convert it: `{}…)`", conversion_to(*wanted)) : ""),
         {}, numbers ? std::vector<Fix>{conversion_fix(at, *wanted)} : std::vector<Fix>());
  return nullptr;
}

ExprPtr IndexElaborator::literal(SyntaxPtr expr, std::optional<DType> wanted) {
  auto number = parse_number(expr->text);
  if (!number) {
    report(DiagnosticKind::MalformedLiteral, expr,
           fmt::format("`{}` is not a number of a known dtype", expr->text));
    return nullptr;
  }
  DType fallback = number->is_integer ? DType::int32() : DType::float32();
  DType dtype = number->dtype ? *number->dtype : wanted.value_or(fallback);
  if (dtype.is_index() && number->is_integer) return dim_value(expr, dim_const(number->integer));
  auto scalar = literal_as(*number, dtype.lane());
  if (!scalar) {
    report(DiagnosticKind::LiteralOutOfRange, expr,
           fmt::format("`{}` does not fit {}", expr->text, to_string(dtype)));
    return nullptr;
  }
  return expect(expr, constant(expr, *scalar, dtype.lanes), wanted);
}

ExprPtr IndexElaborator::from_static(SyntaxPtr expr, const StaticValue& v, std::optional<DType> wanted) {
  if (v.as_dim()) return expect(expr, dim_value(expr, v.as_dim()), wanted);
  if (v.as_bool())
    return expect(expr, constant(expr, Scalar::from_int(DType::boolean(), *v.as_bool())), wanted);
  // A float attribute is as flexible in its dtype as a literal.
  if (v.as_float()) {
    DType dtype = wanted.value_or(DType::float32());
    if (dtype.is_float())
      return constant(expr, Scalar::from_double(dtype.lane(), *v.as_float()), dtype.lanes);
  }
  if (v.as_index_expr()) return expect(expr, v.as_index_expr(), wanted);
  report(DiagnosticKind::InvalidIndexExpression, expr, fmt::format("{} is no element", to_string(v)));
  return nullptr;
}

ExprPtr IndexElaborator::value(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  if (!expr) return nullptr;
  switch (expr->kind) {
    case SyntaxKind::Error: return nullptr;
    case SyntaxKind::Paren: return value(expr->child(0), env, wanted);
    case SyntaxKind::Block: return block(expr, env, wanted);
    case SyntaxKind::Int:
    case SyntaxKind::Float: return literal(expr, wanted);
    case SyntaxKind::Bool:
      return expect(expr, constant(expr, Scalar::from_int(DType::boolean(), expr->text == "True")), wanted);
    case SyntaxKind::Name: {
      auto v = evaluate(expr, env);
      return v ? from_static(expr, *v, wanted) : nullptr;
    }
    case SyntaxKind::Local:
      if (const Variable* element = let_bound(expr))
        return expect(expr, arena_.make<VarExpr>(Expr{ExprKind::Var, element->type, origin(expr)}, element),
                      wanted);
      [[fallthrough]];
    case SyntaxKind::GraphName:
    case SyntaxKind::Field:
    case SyntaxKind::Project: return expect(expr, read(expr, env, nullptr, false), wanted);
    case SyntaxKind::Index: {
      SyntaxPtr base = expr->child(0);
      while (base->is(SyntaxKind::Index) || base->is(SyntaxKind::Paren)) base = base->child(0);
      bool is_list = base->is(SyntaxKind::Name) || base->is(SyntaxKind::List) || base->is(SyntaxKind::Call);
      if (!is_list) return expect(expr, read(expr, env, nullptr, false), wanted);
      auto v = evaluate(expr, env);
      return v ? from_static(expr, *v, wanted) : nullptr;
    }
    case SyntaxKind::ReadElse: return read_else(expr, env, wanted);
    case SyntaxKind::Binary: return binary(expr, env, wanted);
    case SyntaxKind::Unary:
      if (auto v = try_static(expr, env)) return from_static(expr, *v, wanted);
      return apply(expr, expr->text == "not" ? ScalarOp::Not : ScalarOp::Neg, {expr->child(0)}, env, wanted);
    case SyntaxKind::Call: return call(expr, env, wanted);
    case SyntaxKind::If: return conditional(expr, env, wanted);
    case SyntaxKind::Reduce: return reduce(expr, env, wanted);
    case SyntaxKind::Scan: return scan(expr, env, wanted);
    case SyntaxKind::Scatter:
      report(DiagnosticKind::InvalidScatter, expr,
             "a scatter is the whole body of an index expression: bind its tensor with `let` and read that");
      return nullptr;
    default: break;
  }
  report(DiagnosticKind::InvalidIndexExpression, expr,
         "this cannot stand in an index expression: it computes one element from reads, scalar functions and "
         "reductions");
  return nullptr;
}

namespace {

/// Whether it is a number without a dtype: a literal without a suffix, or arithmetic on such literals.
bool is_free_number(SyntaxPtr expr) {
  if (expr->is(SyntaxKind::Int) || expr->is(SyntaxKind::Float)) {
    const auto number = parse_number(expr->text);
    return !number || !number->dtype;
  }
  const bool is_sign = expr->is(SyntaxKind::Unary) && expr->text == "-";
  if (expr->is(SyntaxKind::Paren) || is_sign) return is_free_number(expr->child(0));
  if (!expr->is(SyntaxKind::Binary)) return false;
  const auto op = find_scalar_op(expr->text);
  return op && info(*op).signature == ScalarSignature::Same && is_free_number(expr->child(0)) &&
         is_free_number(expr->child(1));
}

}  // namespace

ExprPtr IndexElaborator::binary(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  // Arithmetic on dims and index variables stays a dim; only pure integers may take the wanted dtype.
  const bool takes_wanted = is_free_number(expr) && !(wanted && wanted->is_index());
  if (auto v = try_static(expr, env); v && (v->as_float() || !takes_wanted))
    return from_static(expr, *v, wanted);
  auto op = find_scalar_op(expr->text);
  if (!op) {
    report(DiagnosticKind::InvalidIndexExpression, expr,
           fmt::format("`{}` cannot stand in an index expression", expr->text));
    return nullptr;
  }
  return apply(expr, *op, {expr->child(0), expr->child(1)}, env, wanted);
}

ExprPtr IndexElaborator::apply(SyntaxPtr expr, ScalarOp op, std::vector<SyntaxPtr> operands,
                               const StaticEnv& env, std::optional<DType> wanted) {
  const ScalarOpInfo& about = info(op);
  bool result_is_operand = about.signature == ScalarSignature::Same ||
                           about.signature == ScalarSignature::Float ||
                           about.signature == ScalarSignature::Bits;
  std::optional<DType> dtype;
  if (about.signature == ScalarSignature::Logic) dtype = DType::boolean();
  if (result_is_operand && wanted) dtype = wanted;
  // An operand with a dtype determines it for free operands (literals, float attributes).
  auto is_free = [&](SyntaxPtr s) {
    if (is_free_number(s)) return true;
    while (s->is(SyntaxKind::Paren)) s = s->child(0);
    auto bound = s->is(SyntaxKind::Name) ? env.find(s->text) : env.end();
    return bound != env.end() && bound->second.as_float();
  };
  std::vector<ExprPtr> args(operands.size(), nullptr);
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < operands.size(); ++i) {
      if (args[i] || (pass == 0 && is_free(operands[i]))) continue;
      bool fraction =
          operands[i]->is(SyntaxKind::Float) && pass == 1 && dtype && (dtype->is_index() || dtype->is_int());
      auto other = std::ranges::find_if(args, [](ExprPtr arg) { return arg != nullptr; });
      if (fraction && other != args.end() && !wanted) {
        SyntaxPtr at = operands[static_cast<size_t>(other - args.begin())];
        report(DiagnosticKind::DTypeMismatch, at,
               fmt::format("this is {}, and `{}` is no integer; convert it: `cast<float32>(…)`",
                           to_string(*dtype), operands[i]->text),
               {}, {conversion_fix(at, DType::float32())});
        return nullptr;
      }
      args[i] = value(operands[i], env, dtype);
      if (!args[i]) return nullptr;
      dtype = args[i]->type->dtype;
    }
  if (!accepts(op, *dtype)) {
    report(DiagnosticKind::DTypeMismatch, expr,
           fmt::format("`{}` takes {}, not {}{}", about.name, accepted_operands(op), to_string(*dtype),
                       accepts(op, dtype->lane()) ? ": there are no vectors of bool" : ""));
    return nullptr;
  }
  // For constants the result is a constant, like any computation without a dtype.
  std::vector<Scalar> known;
  for (ExprPtr arg : args)
    if (auto* number = as<ConstExpr>(arg); number && dtype->has_one_lane()) {
      known.push_back({*dtype});
      std::copy_n(number->value->data(), dtype->bytes(), reinterpret_cast<std::byte*>(&known.back().bits));
    }
  if (known.size() == args.size()) return expect(expr, constant(expr, quern::apply(op, known)), wanted);
  const bool is_logic = is_lazy(op);
  if (is_logic && as<ConstExpr>(args[0]) && (known[0].bits != 0) == (op == ScalarOp::Or))
    return expect(expr, args[0], wanted);
  Type type = scalar_type(result_dtype(op, *dtype));
  return expect(
      expr, arena_.make<ScalarExpr>(Expr{ExprKind::Scalar, type, origin(expr)}, op, false, arena_.copy(args)),
      wanted);
}

ExprPtr IndexElaborator::conversion(SyntaxPtr expr, const StaticEnv& env, DType to) {
  if (expr->children.size() != 2) {
    report(DiagnosticKind::WrongArgumentCount, expr, "a conversion takes one operand");
    return nullptr;
  }
  SyntaxPtr operand = expr->child(1);
  // A float attribute is exact: it is rounded once, to the wanted dtype.
  if (auto bound = operand->is(SyntaxKind::Name) ? env.find(operand->text) : env.end();
      bound != env.end() && bound->second.as_float())
    return constant(expr, cast(Scalar::from_double(DType::float64(), *bound->second.as_float()), to.lane()),
                    to.lanes);
  // A number without a suffix is also exact.
  auto number = operand->is(SyntaxKind::Int) || operand->is(SyntaxKind::Float) ? parse_number(operand->text)
                                                                               : std::nullopt;
  bool free = number && !number->dtype && !to.is_bool();
  ExprPtr inner = value(operand, env, free ? std::optional(to) : std::nullopt);
  return inner ? make_cast(expr, inner, to) : nullptr;
}

ExprPtr IndexElaborator::call(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  SyntaxPtr callee = expr->child(0);
  std::string_view name = callee->is(SyntaxKind::Name) ? callee->text : "";
  std::vector<SyntaxPtr> operands(expr->children.begin() + 1, expr->children.end());
  std::optional<DType> argument;
  SyntaxPtr t = callee->child(0);
  const bool takes_dtype = name == "cast" || name == "lowest" || name == "highest";
  if (t && !takes_dtype && (find_scalar_op(name) || find_static_builtin(name))) {
    report(DiagnosticKind::InvalidIndexExpression, t,
           fmt::format("`{}` takes no type; `cast<float32>({}(…))` changes the type of what it gives", name,
                       name));
    return nullptr;
  }
  if (t && t->is(SyntaxKind::NamedType)) {
    auto bound = env.find(t->text);
    argument =
        bound != env.end() && bound->second.as_dtype() ? *bound->second.as_dtype() : parse_dtype(t->text);
    if (!argument) {
      report(DiagnosticKind::UnknownType, t, fmt::format("unknown dtype `{}`", t->text));
      return nullptr;
    }
  }
  if (name == "len" && operands.size() == 1) {
    auto length = evaluate(expr, env);
    return length ? from_static(expr, *length, wanted) : nullptr;
  }
  if (name == "cast" && (!argument || operands.size() != 1)) {
    report(DiagnosticKind::InvalidIndexExpression, expr,
           "`cast` takes the type that it gives, and one value: `cast<float32>(…)`");
    return nullptr;
  }
  if (name == "cast") return expect(expr, conversion(expr, env, *argument), wanted);
  if (name == "index") return expect(expr, conversion(expr, env, DType::index()), wanted);
  if ((name == "lowest" || name == "highest") && operands.empty()) {
    DType dtype = argument ? *argument : wanted.value_or(DType::float32());
    Scalar lane = name == "lowest" ? lowest(dtype.lane()) : highest(dtype.lane());
    return expect(expr, constant(expr, lane, dtype.lanes), wanted);
  }
  if (name == "select" && operands.size() == 3) return conditional(expr, env, wanted);
  if (std::ranges::any_of(operands, [](SyntaxPtr o) { return o->is(SyntaxKind::Generator); }))
    return fold(expr, env, wanted);
  auto op = name.empty() ? std::nullopt : find_scalar_op(name);
  if (auto v = try_static(expr, env)) return from_static(expr, *v, wanted);
  if (op && info(*op).arity == static_cast<int>(operands.size()))
    return apply(expr, *op, operands, env, wanted);
  if (callee->is(SyntaxKind::GlobalName)) {
    if (!scope_.static_function(callee->text) && scope_.has_global(callee->text)) {
      report(
          DiagnosticKind::InvalidIndexExpression, expr,
          fmt::format("`@{}` is a function of whole values; an index expression calls scalar functions only: "
                      "bind the result before it with `let`, and read that",
                      callee->text));
      return nullptr;
    }
    auto v = evaluate(expr, env);
    return v ? from_static(expr, *v, wanted) : nullptr;
  }
  std::string message =
      op ? fmt::format("`{}` takes {} operand{} and is given {}", name, info(*op).arity,
                       info(*op).arity == 1 ? "" : "s", operands.size())
         : fmt::format("`{}` is no scalar function; index expressions call scalar functions only", name);
  report(op ? DiagnosticKind::WrongArgumentCount : DiagnosticKind::InvalidIndexExpression, expr, message);
  return nullptr;
}

// `product(e for k < n)`: combines the values of a family's members.
ExprPtr IndexElaborator::fold(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  constexpr std::pair<std::string_view, ScalarOp> kFolds[] = {
      {"sum", ScalarOp::Add}, {"product", ScalarOp::Mul}, {"min", ScalarOp::Min}, {"max", ScalarOp::Max}};
  std::string_view name = expr->child(0)->text;
  auto fold = std::ranges::find(kFolds, name, [](const auto& f) { return f.first; });
  std::vector<std::pair<SyntaxPtr, StaticEnv>> members;
  bool known = fold != std::end(kFolds);
  if (known && !family(expr, env, members)) return nullptr;
  if (members.empty()) {
    report(DiagnosticKind::InvalidIndexExpression, expr,
           known ? fmt::format("`{}` of an empty family", name)
                 : fmt::format("`{}` takes no family of values; `sum`, `product`, `min` and `max` do", name));
    return nullptr;
  }
  ExprPtr all = nullptr;
  for (const auto& [syntax, inner] : members) {
    ExprPtr one = value(syntax, inner, wanted);
    if (!one) return nullptr;
    wanted = one->type->dtype;
    all = all ? arena_.make<ScalarExpr>(Expr{ExprKind::Scalar, one->type, origin(expr)}, fold->second, false,
                                        arena_.copy(std::vector<ExprPtr>{all, one}))
              : one;
  }
  return all;
}

// `if (c) { a } else { b }` and `select(c, a, b)`: both are lazy; a condition known at compile time selects
// its arm here.
ExprPtr IndexElaborator::conditional(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  size_t at = expr->is(SyntaxKind::Call) ? 1 : 0;
  SyntaxPtr condition = expr->child(at);
  if (auto known = try_static(condition, env); known && known->as_bool())
    return value(expr->child(at + (*known->as_bool() ? 1 : 2)), env, wanted);
  ExprPtr test = value(condition, env, DType::boolean());
  if (auto* known = as<ConstExpr>(test))
    return value(expr->child(at + (known->value->elements<uint8_t>()[0] != 0 ? 1 : 2)), env, wanted);
  SyntaxPtr first = expr->child(at + 1), second = expr->child(at + 2);
  bool second_decides = !wanted && is_free_number(first);
  ExprPtr decider = value(second_decides ? second : first, env, wanted);
  if (!test || !decider) return nullptr;
  ExprPtr follower = value(second_decides ? first : second, env, decider->type->dtype);
  if (!follower) return nullptr;
  return arena_.make<IfExpr>(Expr{ExprKind::If, decider->type, origin(expr)}, test,
                             second_decides ? follower : decider, second_decides ? decider : follower);
}

ExprPtr IndexElaborator::reduce(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted) {
  auto kind = find_reduce_kind(expr->text);
  if (!kind) return nullptr;
  StaticEnv inner = env;
  std::vector<Dim> vars, extents;
  const size_t outside = around_.size();
  if (!bind_vars(expr->child(0), inner, vars, extents)) return nullptr;
  std::optional<DType> element = wanted;
  if (is_arg(*kind)) element.reset();
  if (*kind == ReduceKind::Any || *kind == ReduceKind::All) element = DType::boolean();
  ExprPtr body = value(expr->child(1), inner, element);
  around_.resize(outside);
  if (!body || !settle_extents(expr->child(0), vars, extents)) return nullptr;
  DType dtype = is_arg(*kind) ? DType::index() : body->type->dtype;
  if (body->type->dtype.is_index() && !is_arg(*kind)) {
    report(DiagnosticKind::DTypeMismatch, expr->child(1),
           "a reduction is over elements of tensors; convert the index: `cast<int64>(…)`");
    return nullptr;
  }
  if ((*kind == ReduceKind::Sum || *kind == ReduceKind::Prod) && !accepts(ScalarOp::Add, body->type->dtype)) {
    report(DiagnosticKind::DTypeMismatch, expr->child(1),
           fmt::format("`{}` takes numbers, not {}: convert it, `cast<int32>(…)`", expr->text,
                       to_string(body->type->dtype)));
    return nullptr;
  }
  if (body->type->dtype.is_vector() && is_arg(*kind)) {
    report(DiagnosticKind::DTypeMismatch, expr->child(1),
           fmt::format("`{}` takes numbers, not {}: each lane of a vector has a position of its own",
                       expr->text, to_string(body->type->dtype)));
    return nullptr;
  }
  return expect(expr,
                arena_.make<ReduceExpr>(Expr{ExprKind::Reduce, scalar_type(dtype), origin(expr)}, *kind,
                                        arena_.copy(vars), arena_.copy(extents), body),
                wanted);
}

}  // namespace quern
