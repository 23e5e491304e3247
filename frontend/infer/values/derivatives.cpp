#include "frontend/infer/values/derivatives.h"

#include <fmt/format.h>

#include "frontend/infer/context/gradient_types.h"
#include "frontend/infer/context/open_types.h"

namespace quern {

DraftPtr Derivatives::of_argument(SyntaxPtr s, IntrinsicKind kind, Type wanted) {
  bool one = s->children.size() == 2 && !s->child(1)->is(SyntaxKind::NamedArgument);
  if (one && kind != IntrinsicKind::StopGradient) return of_function(s, kind);
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

DraftPtr Derivatives::of_function(SyntaxPtr s, IntrinsicKind kind) {
  DraftPtr function = infer(s->child(1));
  auto* draft = drafts_.make<DerivativeDraft>(origin(s), unifier_.fresh_type(), kind, function);
  Type type = resolve(function->type);
  bool same_params = kind == IntrinsicKind::Gradient || kind == IntrinsicKind::ValueAndGradient;
  if (type->kind == TypeKind::Function && same_params)
    unifier_.unify(draft->type, function_type(type->params(), unifier_.fresh_type()));
  relations_.relate(s, draft, "the gradient", [=, this] { return attempt(s, *draft); });
  return draft;
}

namespace {

// The type of `grad(f)` and the like, for a function of known type.
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

// `fn (%x) { sum(@f(%x)) }` instead of `@f`.
std::vector<Fix> Derivatives::sum_of(SyntaxPtr function, size_t arity) {
  bool has_name = function->is(SyntaxKind::GlobalName) || function->is(SyntaxKind::Local);
  if (!has_name || !function->children.empty()) return {};
  std::string names;
  for (size_t i = 0; i < arity; ++i)
    names += fmt::format("{}%x{}", i > 0 ? ", " : "", i > 0 ? std::to_string(i) : "");
  std::string called = (function->is(SyntaxKind::GlobalName) ? "@" : "%") + std::string(function->text);
  std::string text = fmt::format("fn ({0}) {{ sum({1}({0})) }}", names, called);
  return {{"differentiate the sum of its result", {{place(function), text}}}};
}

// The derivative's type no longer matters: its result has an error.
bool Derivatives::give_up(DerivativeDraft& draft) {
  Type known = resolve(draft.type);
  unifier_.unify(known->kind == TypeKind::Function ? known->result() : known, error_type());
  return true;
}

bool Derivatives::fail(SyntaxPtr s, DerivativeDraft& draft, std::string message, std::vector<Fix> fixes) {
  report(DiagnosticKind::TypeMismatch, s->child(1), std::move(message), names_.origin_of(draft.function),
         std::move(fixes));
  return give_up(draft);
}

bool Derivatives::attempt(SyntaxPtr s, DerivativeDraft& draft) {
  const IntrinsicKind kind = draft.intrinsic;
  Type type = resolve(draft.function->type);
  if (type->kind == TypeKind::Infer) return false;
  std::string_view name = s->child(0)->text;
  bool broken = type->is_error() || (type->kind == TypeKind::Function && contains_error(type->result()));
  if (broken) return give_up(draft);
  if (type->kind != TypeKind::Function)
    return fail(s, draft,
                fmt::format("`{}` takes a function, and this is {}", name, unifier_.describe(type)));
  Type result = resolve(type->result());
  if (result->kind == TypeKind::Infer || has_open_part(result)) return false;
  bool of_scalar = kind == IntrinsicKind::Gradient || kind == IntrinsicKind::ValueAndGradient;
  if (of_scalar ? !result->is_tensor() || !has_floats(result) : !has_floats(result))
    return fail(
        s, draft,
        fmt::format("`{}` takes a function whose result is {} of floating-point numbers, and this has "
                    "the result {}{}",
                    name, of_scalar ? "one tensor" : "a tensor or tuple", unifier_.describe(result),
                    result->is_tensor() && result->dtype.is_int()
                        ? "; write numbers as `1.0`, or the type of a parameter, as in `fn (%x: float32)`"
                        : ""));
  if (of_scalar && !result->is_scalar())
    return fail(s, draft,
                fmt::format("`{}` takes a function whose result is one number, and the result of this is {}; "
                            "differentiate its sum, or take `vjp`, which is given the gradient of the result",
                            name, unifier_.describe(result)),
                sum_of(s->child(1), type->params().size()));
  std::vector<Type> params;
  for (Type param : type->params()) {
    params.push_back(resolve(param));
    if (has_open_part(params.back())) return false;
  }
  unifier_.unify(draft.type, derivative_type(kind, function_type(params, result)));
  return true;
}

template <>
DraftPtr Derivatives::call<CalledWord::Grad>(SyntaxPtr s, Type wanted) {
  return of_argument(s, IntrinsicKind::Gradient, wanted);
}
template <>
DraftPtr Derivatives::call<CalledWord::ValueAndGrad>(SyntaxPtr s, Type wanted) {
  return of_argument(s, IntrinsicKind::ValueAndGradient, wanted);
}
template <>
DraftPtr Derivatives::call<CalledWord::Vjp>(SyntaxPtr s, Type wanted) {
  return of_argument(s, IntrinsicKind::VectorJacobian, wanted);
}
template <>
DraftPtr Derivatives::call<CalledWord::Jvp>(SyntaxPtr s, Type wanted) {
  return of_argument(s, IntrinsicKind::JacobianVector, wanted);
}
template <>
DraftPtr Derivatives::call<CalledWord::Checkpoint>(SyntaxPtr s, Type wanted) {
  return of_argument(s, IntrinsicKind::Checkpoint, wanted);
}
template <>
DraftPtr Derivatives::call<CalledWord::StopGradient>(SyntaxPtr s, Type wanted) {
  return of_argument(s, IntrinsicKind::StopGradient, wanted);
}

}  // namespace quern
