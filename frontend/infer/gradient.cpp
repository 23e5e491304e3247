// The walk of inference over `grad(f)`.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/inference.h"

namespace quern {

DraftPtr Inference::differentiation(SyntaxPtr s, IntrinsicKind kind, Type wanted) {
  bool one = s->children.size() == 2 && !s->child(1)->is(SyntaxKind::NamedArgument);
  if (one && kind != IntrinsicKind::StopGradient) return gradient(s, kind);
  if (one) {
    DraftPtr value = infer(s->child(1), wanted);
    return drafts_.form(origin(s), value->type, IntrinsicExpr{.intrinsic = kind}, {value});
  }
  constexpr std::string_view kTakesFunction =
      "`{0}` takes a function: `{0}(@loss)`, which is called with that function's arguments";
  constexpr std::string_view kTakesValue = "`{0}` takes a value: `{0}(%x)`";
  report(DiagnosticKind::WrongArgumentCount, s,
         kind == IntrinsicKind::StopGradient ? fmt::format(kTakesValue, to_string(kind))
                                             : fmt::format(kTakesFunction, to_string(kind)));
  return error(s);
}

DraftPtr Inference::gradient(SyntaxPtr s, IntrinsicKind kind) {
  DraftPtr function = infer(s->child(1));
  DraftPtr draft = drafts_.make<DerivativeDraft>(origin(s), unifier.fresh_type(), kind, function);
  Type type = resolve(function->type);
  bool same_params = kind == IntrinsicKind::Gradient || kind == IntrinsicKind::ValueAndGradient;
  if (type->kind == TypeKind::Function && same_params)
    unifier.unify(draft->type, function_type(type->params(), unifier.fresh_type()));
  relate(s, draft, "the gradient", [=, this] { return attempt_gradient(s, draft, function, kind); });
  return draft;
}

namespace {

// What `grad(f)` and its like are, for a function whose types are known.
Type derivative_type(IntrinsicKind kind, Type function) {
  std::vector<Type> params(function->params().begin(), function->params().end()), gradients;
  for (Type param : params) gradients.push_back(gradient_type(param));
  Type result = function->result(), all = tuple_type(gradients), out_gradient = gradient_type(result);
  auto pair_of = [&](Type second) { return tuple_type(std::vector<Type>{result, second}); };
  switch (kind) {
    case IntrinsicKind::ValueAndGradient: return function_type(params, pair_of(all));
    case IntrinsicKind::VectorJacobian:
      params.push_back(out_gradient);
      return function_type(params, pair_of(all));
    case IntrinsicKind::JacobianVector:
      params.insert(params.end(), gradients.begin(), gradients.end());
      return function_type(params, pair_of(out_gradient));
    case IntrinsicKind::Checkpoint: return function;
    default: return function_type(params, all);
  }
}

}  // namespace

// `fn (%x) { sum(@f(%x)) }` in the place of `@f`.
std::vector<Fix> Inference::sum_of(SyntaxPtr function, size_t arity) {
  bool has_name = function->is(SyntaxKind::GlobalName) || function->is(SyntaxKind::Local);
  if (!has_name || !function->children.empty()) return {};
  std::string names;
  for (size_t i = 0; i < arity; ++i)
    names += fmt::format("{}%x{}", i > 0 ? ", " : "", i > 0 ? std::to_string(i) : "");
  std::string called = (function->is(SyntaxKind::GlobalName) ? "@" : "%") + std::string(function->text);
  std::string text = fmt::format("fn ({0}) {{ sum({1}({0})) }}", names, called);
  return {{"differentiate the sum of its result", {{place(function), text}}}};
}

bool Inference::attempt_gradient(SyntaxPtr s, DraftPtr draft, DraftPtr function, IntrinsicKind kind) {
  Type type = resolve(function->type);
  if (type->kind == TypeKind::Infer) return false;
  auto give_up = [&] {
    Type known = resolve(draft->type);
    unifier.unify(known->kind == TypeKind::Function ? known->result() : known, error_type());
    return true;
  };
  auto fail = [&](std::string message) {
    report(DiagnosticKind::TypeMismatch, s->child(1), std::move(message), origin_of(function));
    return give_up();
  };
  std::string_view name = s->child(0)->text;
  bool broken = type->is_error() || (type->kind == TypeKind::Function && contains_error(type->result()));
  if (broken) return give_up();
  if (type->kind != TypeKind::Function)
    return fail(fmt::format("`{}` takes a function, and this is {}", name, unifier.describe(type)));
  Type result = resolve(type->result());
  if (result->kind == TypeKind::Infer || has_open_part(result)) return false;
  bool of_scalar = kind == IntrinsicKind::Gradient || kind == IntrinsicKind::ValueAndGradient;
  if (of_scalar ? !result->is_tensor() || !has_floats(result) : !has_floats(result))
    return fail(
        fmt::format("`{}` takes a function whose result is {} of floating-point numbers, and this has "
                    "the result {}",
                    name, of_scalar ? "one tensor" : "a tensor or tuple", unifier.describe(result)));
  if (of_scalar && !result->is_scalar()) {
    report(DiagnosticKind::TypeMismatch, s->child(1),
           fmt::format("`{}` takes a function whose result is one number, and the result of this is {}; "
                       "differentiate its sum, or take `vjp`, which is given the gradient of the result",
                       name, unifier.describe(result)),
           origin_of(function), sum_of(s->child(1), type->params().size()));
    Type known = resolve(draft->type);
    unifier.unify(known->kind == TypeKind::Function ? known->result() : known, error_type());
    return true;
  }
  std::vector<Type> params;
  for (Type param : type->params()) {
    params.push_back(resolve(param));
    if (has_open_part(params.back())) return false;
  }
  unifier.unify(draft->type, derivative_type(kind, function_type(params, result)));
  return true;
}

bool has_floats(Type type) {
  if (type->is_tensor()) return type->dtype.is_float();
  return type->kind == TypeKind::Tuple && std::ranges::any_of(type->args, has_floats);
}

Type gradient_type(Type type) {
  if (type->is_tensor()) return type->dtype.is_float() ? type : unit_type();
  if (type->kind != TypeKind::Tuple) return unit_type();
  std::vector<Type> fields;
  for (Type field : type->args) fields.push_back(gradient_type(field));
  return tuple_type(fields);
}

Type gradient_clause_type(std::span<const Type> params, Type result, size_t arity) {
  // A clause is for floating-point numbers: a dtype that is not known yet is one of theirs.
  auto of = [](Type type) {
    return type->is_tensor() && type->dtype.is_infer() ? type : gradient_type(type);
  };
  std::vector<Type> gradients, given{result->kind == TypeKind::Infer ? result : of(result), result};
  for (Type param : params) gradients.push_back(of(param));
  given.resize(arity);
  return function_type(given, gradients.size() == 1 ? gradients[0] : tuple_type(gradients));
}

SyntaxPtr gradient_clause_of(SyntaxPtr declaration) {
  bool has_clauses = declaration->is(SyntaxKind::Def) || declaration->is(SyntaxKind::Op) ||
                     declaration->is(SyntaxKind::ExternOp);
  for (SyntaxPtr clause : has_clauses ? declaration->child(3)->children : std::span<const SyntaxPtr>())
    if (clause->is(SyntaxKind::Gradient)) return clause;
  return nullptr;
}

DraftPtr Inference::gradient_clause(SyntaxPtr s, Type wanted) {
  size_t arity = s->child(0)->children.size();
  bool tensors =
      std::ranges::all_of(s->child(0)->children, [](SyntaxPtr p) { return p->is(SyntaxKind::TensorParam); });
  if (!tensors || arity < 1 || arity > 2) {
    report(DiagnosticKind::WrongArgumentCount, s->child(0),
           "a `gradient` clause takes the gradient of the result, and the result where it is needed: "
           "`gradient (%g, %y) { … }`");
    return error(s);
  }
  std::vector<Type> given;
  std::vector<Dim> opened;
  for (size_t k = 0; k < arity; ++k)
    given.push_back(open_any(resolve(wanted->params()[k]), s->child(0)->child(k)->text, &opened));
  Head head = head_of(nullptr, s->child(0), nullptr, env, Binder::Once, &given);
  head.dim_vars.insert(head.dim_vars.end(), opened.begin(), opened.end());
  head.result = wanted->result();
  return function(s, s->child(0), head, s->child(1));
}

DraftPtr Inference::gradient_of_op(SyntaxPtr clause, SyntaxPtr params, const Head& head) {
  env = head.env;
  std::vector<FnAttribute> none;
  std::vector<const Variable*> variables = bind_params(params, head, none);
  size_t arity = std::min<size_t>(clause->child(0)->children.size(), 2);
  DraftPtr closure = infer(clause, gradient_clause_type(head.params, head.result, arity));
  return drafts_.form(origin(clause), function_type(head.params, closure->type),
                      FnExpr{.params = drafts_.copy(variables)}, {closure});
}

DraftPtr Inference::with_gradient(SyntaxPtr clause, const std::vector<const Variable*>& params,
                                  DraftPtr value, Type type) {
  std::vector<Type> types;
  std::vector<DraftPtr> parts{value, nullptr};
  for (const Variable* param : params) {
    types.push_back(resolve(param->type));
    parts.push_back(drafts_.read(origin(clause), param, param->type));
  }
  size_t arity = clause->child(0)->children.size();
  parts[1] = infer(clause, gradient_clause_type(types, resolve(type), std::min<size_t>(arity, 2)));
  if (parts[1]->kind == DraftKind::Error) return parts[1];
  return drafts_.form(value->origin, value->type, IntrinsicExpr{.intrinsic = IntrinsicKind::WithGradient},
                      parts);
}

}  // namespace quern
