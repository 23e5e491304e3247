#include "frontend/infer/calls/function_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "frontend/static/metadata.h"

namespace quern {

const Declaration* FunctionCalls::declaration_of(SyntaxPtr callee) {
  return callee->is(SyntaxKind::GlobalName) ? scope_.global(callee->text) : nullptr;
}

namespace {

// Whether two parameters' types share a user-declared name of a dim, a dtype or a type.
bool share_names(SyntaxPtr a, SyntaxPtr b) {
  std::set<std::string_view> names;
  std::function<void(SyntaxPtr)> collect = [&](SyntaxPtr s) {
    if (!s) return;
    bool is_name = s->is(SyntaxKind::Name) || s->is(SyntaxKind::NamedType);
    if (is_name && !parse_dtype(s->text)) names.insert(s->text);
    for (SyntaxPtr c : s->children) collect(c);
  };
  collect(a ? a->child(0) : nullptr);
  std::set<std::string_view> first = std::exchange(names, {});
  collect(b ? b->child(0) : nullptr);
  return std::ranges::any_of(first, [&](std::string_view name) { return names.contains(name); });
}

}  // namespace

// Nothing if an argument is named.
std::optional<FunctionCalls::Arguments> FunctionCalls::arguments_of(SyntaxPtr call, Type callee) {
  std::span<const Type> params =
      callee->kind == TypeKind::Function ? callee->params() : std::span<const Type>();
  // TVM's annotations at a function call have no effect.
  bool noted = std::ranges::any_of(call->children, [](SyntaxPtr arg) {
    return arg->is(SyntaxKind::NamedArgument) && arg->text == "attrs_type_key";
  });
  Arguments args;
  for (SyntaxPtr arg : call->children.subspan(1)) {
    if (is_attribute_struct(arg) || (noted && arg->is(SyntaxKind::NamedArgument))) continue;
    if (arg->is(SyntaxKind::NamedArgument)) {
      report(DiagnosticKind::UnknownAttribute, arg, "functions take their arguments by position");
      return std::nullopt;
    }
    const size_t k = args.values.size();
    args.values.push_back(infer(arg, k < params.size() ? params[k] : nullptr));
    args.at.push_back(arg);
  }
  return args;
}

// The callee's text is used only for the message: an edit that keeps its type changes nothing here.
void FunctionCalls::report_argument(SyntaxPtr call, DraftPtr function, const std::string& name, Type wanted,
                                    const Arguments& args, size_t i) {
  std::vector<Note> notes;
  const Declaration* declared = declaration_of(call->child(0));
  if (SyntaxPtr param = declared ? params_of(declared->syntax)->child(i) : nullptr)
    notes.push_back({Place{{declared->id, param->id}, {}},
                     fmt::format("the parameter `%{}` is declared here", param->text)});
  // Earlier arguments bind the names that the parameter's type shares with theirs.
  for (size_t k = 0; k <= i; ++k)
    if (k == i || !declared ||
        share_names(params_of(declared->syntax)->child(k), params_of(declared->syntax)->child(i)))
      for (Note& note : names_.origin_of(args.values[k])) notes.push_back(std::move(note));
  if (auto* var = form_of<VarExpr>(function); var && !parts_.general.schemes.contains(var->variable))
    notes.push_back(
        {std::nullopt, fmt::format("{} has one type wherever it is used; a function that `def` or `let "
                                   "%f = fn …` binds can have several",
                                   name)});
  assignments_.expect(args.at[i], wanted, args.values[i]->type, fmt::format("argument {} of {}", i + 1, name),
                      std::move(notes), DiagnosticKind::ArgumentMismatch);
}

void FunctionCalls::assign_arguments(SyntaxPtr call, DraftPtr function, const std::string& name, Type type,
                                     const Arguments& args) {
  for (size_t i = 0; i < args.values.size(); ++i) {
    checks_.site = {args.values[i], origin(args.at[i]), {}, [&, i] {
                      return fmt::format("argument {} of {}", i + 1, name);
                    }};
    checks_.compare_here();
    bool fits = assignments_.assign(type->params()[i], args.values[i]->type);
    checks_.site = {};
    if (!fits) report_argument(call, function, name, type->params()[i], args, i);
  }
}

// Makes the callee's unknown type a function of these arguments.
DraftPtr FunctionCalls::call_unknown(SyntaxPtr s, DraftPtr function, Type type, const std::string& name,
                                     const Arguments& args) {
  Type result = unifier_.fresh_type();
  std::vector<Type> types;
  for (DraftPtr arg : args.values) types.push_back(arg->type);
  assignments_.expect(s->child(0), type, function_type(types, result), name);
  return drafts_.call(origin(s), result, function, args.values);
}

DraftPtr FunctionCalls::wrong_count(SyntaxPtr s, Type type, const std::string& name, size_t given) {
  std::vector<Note> notes;
  if (const Declaration* declared = declaration_of(s->child(0)))
    notes.push_back({Place{{declared->id, params_of(declared->syntax)->id}, {}},
                     fmt::format("{} is defined here", name)});
  const size_t wanted = type->params().size();
  report(DiagnosticKind::WrongArgumentCount, s,
         fmt::format("{} takes {} argument{} and is given {}", name, wanted, wanted == 1 ? "" : "s", given),
         std::move(notes));
  return error(s, type->result());
}

DraftPtr FunctionCalls::call(SyntaxPtr s) {
  SyntaxPtr callee = s->child(0);
  DraftPtr function = infer(callee);
  // A literal that is called in place binds its dims from the arguments.
  Substitution own;
  if (auto* literal = form_of<FnExpr>(function))
    for (Dim var : literal->dim_vars) own.dims.emplace(var, unifier_.fresh_dim());
  auto args = arguments_of(s, substitute(resolve(function->type), own));
  if (!args) return error(s);
  std::string name = callee->is(SyntaxKind::GlobalName) ? "`@" + std::string(callee->text) + "`"
                     : callee->is(SyntaxKind::Local)    ? "`%" + std::string(callee->text) + "`"
                                                        : "this";
  Type type = resolve(substitute(resolve(function->type), own));
  if (type->is_error()) return error(s);
  if (type->kind == TypeKind::Infer) return call_unknown(s, function, type, name, *args);
  if (type->kind != TypeKind::Function) {
    report(DiagnosticKind::NotAFunction, callee,
           fmt::format("{} is no function: its type is {}", name, unifier_.describe(type)),
           names_.origin_of(function));
    return error(s);
  }
  if (type->params().size() != args->values.size()) return wrong_count(s, type, name, args->values.size());
  assign_arguments(s, function, name, type, *args);
  DraftPtr result = drafts_.call(origin(s), type->result(), function, args->values);
  Type known = resolve(type->result());
  if (known->kind == TypeKind::Infer) return result;
  return checks_.opened(result, known, callee->text.empty() ? "call" : callee->text);
}

}  // namespace quern
