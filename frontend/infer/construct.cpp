// The walk of inference over constructors: as calls, and as functions.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/inference.h"
#include "frontend/text/suggest.h"

namespace quern {

bool Inference::constructor_fields(SyntaxPtr s, const DataConstructor& constructor,
                                   const Substitution& substitution, std::vector<DraftPtr>& fields,
                                   std::vector<SyntaxPtr>& at) {
  size_t count = constructor.fields.size();
  fields.assign(count, nullptr);
  at.assign(count, s);
  std::vector<SyntaxPtr> args;
  if (s->is(SyntaxKind::Call)) args.assign(s->children.begin() + 1, s->children.end());
  size_t next = 0;
  for (SyntaxPtr arg : args) {
    size_t slot = next++;
    SyntaxPtr value = arg;
    if (arg->is(SyntaxKind::NamedArgument)) {
      for (slot = 0; slot < count && constructor.fields[slot].name != arg->text;) ++slot;
      value = arg->child(0);
      if (slot == count) {
        std::vector<std::string> names;
        for (const DataField& f : constructor.fields) names.push_back(f.name);
        Place name = place(arg);
        name.part = Part::Head;
        name.length = static_cast<uint32_t>(arg->text.size());
        Suggestion meant = suggest(did_you_mean(arg->text, names), name);
        report(DiagnosticKind::UnknownField, arg,
               fmt::format("`{}` has no field `{}`{}", constructor.name, arg->text, meant.text), {},
               std::move(meant.fixes));
        return false;
      }
    }
    if (slot < count && fields[slot]) {
      report(DiagnosticKind::GivenTwice, arg,
             fmt::format("the field `{}` of `{}` is given twice", constructor.fields[slot].name,
                         constructor.name),
             {{place(at[slot]), "it is given here first"}});
      return false;
    }
    if (slot >= count) {
      report(DiagnosticKind::WrongArgumentCount, s,
             fmt::format("`{}` has {} field{} and is given {}", constructor.name, count,
                         count == 1 ? "" : "s", args.size()));
      return false;
    }
    fields[slot] = infer(value, substitute(constructor.fields[slot].type, substitution));
    at[slot] = value;
  }
  for (size_t i = 0; i < count; ++i) {
    if (fields[i]) continue;
    std::string_view missing = constructor.fields[i].name;
    report(DiagnosticKind::WrongArgumentCount, s,
           missing.empty() ? fmt::format("`{}` has {} field{} and is given {}", constructor.name, count,
                                         count == 1 ? "" : "s", args.size())
                           : fmt::format("`{}` is not given the field `{}`", constructor.name, missing));
    return false;
  }
  return true;
}

/// The type arguments of `Cons<float32>`, where there are some.
bool Inference::type_arguments(SyntaxPtr s, const DataDefinition& data, Substitution& substitution) {
  if (s->children.empty()) return true;
  const std::vector<Type>& vars = data.header.type_vars;
  if (s->children.size() != vars.size()) {
    report(DiagnosticKind::WrongArgumentCount, s,
           fmt::format("`{}` takes {} type argument{} and is given {}", data.name, vars.size(),
                       vars.size() == 1 ? "" : "s", s->children.size()));
    return false;
  }
  for (size_t i = 0; i < vars.size(); ++i)
    unifier.unify(substitution.types.at(vars[i]), annotation(s->child(i)));
  return true;
}

bool leaves_dims_open(Type type) {
  return std::ranges::any_of(type->dims, [](Dim d) { return d->has_any; }) ||
         std::ranges::any_of(type->args, leaves_dims_open);
}

/// `name` is the constructor as written; `s` its call, or itself: without arguments a constructor with fields
/// is a function.
DraftPtr Inference::construct(SyntaxPtr s, SyntaxPtr name, const DataDefinition& data, Type wanted) {
  const DataConstructor* constructor = find_constructor(data, name->text);
  Substitution substitution;
  instantiate(Scheme{{}, data.header.type_vars, data.header.type}, substitution);
  if (!constructor || !type_arguments(name, data, substitution)) return error(s);
  Type type = substitute(data.header.type, substitution);
  if (wanted) wanted = resolve(wanted);
  if (wanted && wanted->kind == TypeKind::Data && wanted->id == type->id && leaves_dims_open(wanted))
    unifier.unify(type, wanted);
  bool applied = s != name;
  if (!applied && !constructor->fields.empty())
    return constructor_function(s, *constructor, type, substitution);
  std::vector<DraftPtr> fields;
  std::vector<SyntaxPtr> at;
  if (applied && !constructor_fields(s, *constructor, substitution, fields, at)) return error(s, type);
  for (size_t i = 0; i < fields.size(); ++i) {
    const DataField& field = constructor->fields[i];
    std::string what = field.name.empty() ? fmt::format("field {} of `{}`", i, name->text)
                                          : fmt::format("the field `{}` of `{}`", field.name, name->text);
    expect(at[i], substitute(field.type, substitution), fields[i]->type, what,
           {{field.place, "the field is declared here"}}, DiagnosticKind::TypeMismatch, fields[i]);
  }
  return construction(s, type, *constructor, name->text, fields);
}

DraftPtr Inference::constructor_function(SyntaxPtr s, const DataConstructor& constructor, Type type,
                                         const Substitution& substitution) {
  std::vector<const Variable*> params;
  std::vector<DraftPtr> fields;
  std::vector<Type> types;
  for (size_t i = 0; i < constructor.fields.size(); ++i) {
    const DataField& field = constructor.fields[i];
    types.push_back(substitute(field.type, substitution));
    std::string name = field.name.empty() ? fmt::format("x{}", i) : field.name;
    params.push_back(drafts_.variable(name, types.back()));
    fields.push_back(drafts_.read(origin(s), params.back(), types.back()));
  }
  return drafts_.form(origin(s), function_type(types, type), FnExpr{.params = drafts_.copy(params)},
                      {construction(s, type, constructor, s->text, fields)});
}

DraftPtr Inference::construction(SyntaxPtr s, Type type, const DataConstructor& constructor,
                                 std::string_view written, const std::vector<DraftPtr>& fields) {
  return drafts_.form(origin(s), type,
                      ConstructExpr{.constructor = constructor.interned, .name = drafts_.copy(written)},
                      fields);
}

}  // namespace quern
