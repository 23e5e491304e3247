// The walk of inference over `grad(f)`.

#include <fmt/format.h>

#include "frontend/inference.h"

namespace quern {

ExprPtr Inference::gradient(SyntaxPtr s, IntrinsicKind kind) {
  bool one = s->children.size() == 2 && !s->child(1)->is(SyntaxKind::NamedArgument);
  if (!one) {
    report(DiagnosticKind::WrongArgumentCount, s,
           fmt::format("`{0}` takes a function: `{0}(@loss)`, which is called with that function's arguments",
                       s->child(0)->text));
    return error(s);
  }
  ExprPtr function = infer(s->child(1));
  ExprPtr draft = drafts_.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, unifier.fresh_type(), origin(s)},
                                              kind, drafts_.copy(std::vector<ExprPtr>{function}),
                                              std::span<const std::string_view>());
  Type type = resolve(function->type);
  if (type->kind == TypeKind::Function)
    unifier.unify(draft->type, function_type(type->params(), unifier.fresh_type()));
  relate(s, draft, "the gradient", [=, this] { return attempt_gradient(s, draft, function, kind); });
  return draft;
}

bool Inference::attempt_gradient(SyntaxPtr s, ExprPtr draft, ExprPtr function, IntrinsicKind kind) {
  Type type = resolve(function->type);
  if (type->kind == TypeKind::Infer) return false;
  auto fail = [&](std::string message) {
    report(DiagnosticKind::TypeMismatch, s->child(1), std::move(message), origin_of(function));
    unifier.unify(draft->type, error_type());
    return true;
  };
  std::string_view name = s->child(0)->text;
  if (type->is_error()) return unifier.unify(draft->type, error_type()), true;
  if (type->kind != TypeKind::Function)
    return fail(fmt::format("`{}` takes a function, and this is {}", name, unifier.describe(type)));
  Type result = resolve(type->result());
  if (result->kind == TypeKind::Infer || (result->is_tensor() && resolve(result->dtype).is_infer()))
    return false;
  if (!result->is_tensor() || !resolve(result->dtype).is_float())
    return fail(fmt::format(
        "`{}` takes a function whose result is one tensor of floating-point numbers, and this has "
        "the result {}",
        name, unifier.describe(result)));
  std::vector<Type> gradients;
  for (Type param : type->params()) {
    if (has_open_part(resolve(param))) return false;
    gradients.push_back(gradient_type(resolve(param)));
  }
  Type all = tuple_type(gradients);
  if (kind == IntrinsicKind::ValueAndGradient) {
    Type pair[] = {result, all};
    all = tuple_type(pair);
  }
  unifier.unify(draft->type, function_type(type->params(), all));
  return true;
}

Type gradient_type(Type type) {
  if (type->is_tensor()) return type->dtype.is_float() ? type : unit_type();
  if (type->kind != TypeKind::Tuple) return unit_type();
  std::vector<Type> fields;
  for (Type field : type->args) fields.push_back(gradient_type(field));
  return tuple_type(fields);
}

}  // namespace quern
