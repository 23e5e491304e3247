#include "frontend/infer/values/partial_application.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

template <>
DraftPtr PartialApplication::call<CalledWord::Specialize>(SyntaxPtr s, Type) {
  const std::span<const SyntaxPtr> args = s->children.subspan(1);
  const bool named = std::ranges::any_of(args, [](SyntaxPtr a) { return a->is(SyntaxKind::NamedArgument); });
  if (args.empty() || named) {
    report(
        DiagnosticKind::WrongArgumentCount, s,
        "`specialize` takes a function and its first arguments, by position: `specialize(@power, 3)` is the "
        "function of the others");
    return error(s);
  }
  Use use{s, infer(args[0]), {}, nullptr};
  for (SyntaxPtr arg : args.subspan(1)) use.known.push_back(infer(arg));
  use.waiting = drafts_.make<WaitingDraft>(origin(s), unifier_.fresh_type());
  relations_.relate(s, use.waiting, "the function", [=, this] { return attempt(use); });
  return use.waiting;
}

bool PartialApplication::attempt(const Use& use) {
  Type function = resolve(use.function->type);
  if (function->kind == TypeKind::Infer) return false;
  auto fail = [&](SyntaxPtr at, std::string message) {
    if (!message.empty()) report(DiagnosticKind::TypeMismatch, at, std::move(message));
    use.waiting->replacement = drafts_.error(use.waiting->origin);
    unifier_.unify(use.waiting->type, error_type());
    return true;
  };
  if (function->is_error()) return fail(use.at, "");
  if (function->kind != TypeKind::Function)
    return fail(use.at->child(1),
                fmt::format("`specialize` takes a function, and this is {}", unifier_.describe(function)));
  const size_t takes = function->params().size();
  if (use.known.size() > takes)
    return fail(use.at, fmt::format("this function takes {} argument{}, and `specialize` is given {}", takes,
                                    takes == 1 ? "" : "s", use.known.size()));
  for (size_t i = 0; i < use.known.size(); ++i)
    assignments_.expect(use.at->child(i + 2), function->params()[i], use.known[i]->type,
                        fmt::format("argument {} of this function", i + 1), {},
                        DiagnosticKind::ArgumentMismatch, use.known[i]);
  use.waiting->replacement = applied(use, function);
  assignments_.becomes(use.at, use.waiting, use.waiting->replacement->type);
  return true;
}

// `{ let %known = a; specialize(fn (%x) { f(%known, %x) }) }`, with literals in their places.
DraftPtr PartialApplication::applied(const Use& use, Type function) {
  const Origin at = use.waiting->origin;
  if (use.known.empty())
    return drafts_.form(at, function, IntrinsicExpr{.intrinsic = IntrinsicKind::Specialize}, {use.function});
  std::vector<DraftBinding> bindings;
  auto bound = [&](std::string_view name, DraftPtr value) {
    bindings.push_back({drafts_.variable(name, value->type), value});
    return drafts_.read(at, bindings.back().variable, value->type);
  };
  DraftPtr callee = names_function(use.function) ? use.function : bound("f", use.function);
  std::vector<DraftPtr> args;
  for (DraftPtr value : use.known)
    args.push_back(value->kind == DraftKind::Literal ? value : bound("known", value));
  std::vector<const Variable*> params;
  std::vector<Type> types;
  for (Type type : function->params().subspan(use.known.size())) {
    params.push_back(drafts_.variable("x", type));
    types.push_back(type);
    args.push_back(drafts_.read(at, params.back(), type));
  }
  DraftPtr call = drafts_.call(at, function->result(), callee, args);
  const Type type = function_type(types, function->result());
  DraftPtr rest = drafts_.form(at, type, FnExpr{.params = drafts_.copy(params)}, {call});
  DraftPtr made = drafts_.form(at, type, IntrinsicExpr{.intrinsic = IntrinsicKind::Specialize}, {rest});
  return bindings.empty() ? made : drafts_.block(at, bindings, made);
}

}  // namespace quern
