#include "frontend/infer/calls/constructors.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/gradual/open_dims.h"
#include "frontend/infer/values/fields.h"

namespace quern {

// The index of a named argument's field; nothing after a diagnostic.
std::optional<size_t> Constructors::field_named(SyntaxPtr arg, const DataConstructor& constructor) {
  const auto& fields = constructor.fields;
  auto found = std::ranges::find(fields, arg->text, &DataField::name);
  if (found != fields.end()) return static_cast<size_t>(found - fields.begin());
  Place name = place(arg);
  name.part = Part::Head;
  name.length = static_cast<uint32_t>(arg->text.size());
  Suggestion meant = suggest_field(constructor, arg->text, name);
  report(DiagnosticKind::UnknownField, arg,
         fmt::format("`{}` has no field `{}`{}", constructor.name, arg->text, meant.text), {},
         std::move(meant.fixes));
  return std::nullopt;
}

namespace {

std::string wrong_field_count(const DataConstructor& constructor, size_t given) {
  const size_t count = constructor.fields.size();
  return fmt::format("`{}` has {} field{} and is given {}", constructor.name, count, count == 1 ? "" : "s",
                     given);
}

}  // namespace

// False after a diagnostic.
bool Constructors::add_fields(SyntaxPtr s, const DataConstructor& constructor,
                              const Substitution& substitution, Given& given) {
  const size_t count = constructor.fields.size();
  given.values.assign(count, nullptr);
  given.at.assign(count, s);
  std::span<const SyntaxPtr> args = s->is(SyntaxKind::Call) ? s->children.subspan(1) : s->children.first(0);
  size_t next = 0;
  for (SyntaxPtr arg : args) {
    size_t slot = next++;
    SyntaxPtr value = arg;
    if (arg->is(SyntaxKind::NamedArgument)) {
      auto named = field_named(arg, constructor);
      if (!named) return false;
      slot = *named;
      value = arg->child(0);
    }
    if (slot < count && given.values[slot]) {
      report(DiagnosticKind::GivenTwice, arg,
             fmt::format("the field `{}` of `{}` is given twice", constructor.fields[slot].name,
                         constructor.name),
             {{place(given.at[slot]), "it is given here first"}});
      return false;
    }
    if (slot >= count) {
      report(DiagnosticKind::WrongArgumentCount, s, wrong_field_count(constructor, args.size()));
      return false;
    }
    given.values[slot] = infer(value, substitute(constructor.fields[slot].type, substitution));
    given.at[slot] = value;
  }
  return has_all(s, constructor, given, args.size());
}

bool Constructors::has_all(SyntaxPtr s, const DataConstructor& constructor, const Given& given,
                           size_t arguments) {
  auto missing = std::ranges::find(given.values, nullptr);
  if (missing == given.values.end()) return true;
  const std::string& name = constructor.fields[static_cast<size_t>(missing - given.values.begin())].name;
  report(DiagnosticKind::WrongArgumentCount, s,
         name.empty() ? wrong_field_count(constructor, arguments)
                      : fmt::format("`{}` is not given the field `{}`", constructor.name, name));
  return false;
}

/// The type arguments of `Cons<float32>`, if any.
bool Constructors::type_arguments(SyntaxPtr s, const DataDefinition& data, Substitution& substitution) {
  if (s->children.empty()) return true;
  const size_t count = data.header.params.size();
  if (s->children.size() != count) {
    report(DiagnosticKind::WrongArgumentCount, s,
           fmt::format("`{}` takes {} type argument{} and is given {}", data.name, count,
                       count == 1 ? "" : "s", s->children.size()));
    return false;
  }
  const Syntax written{SyntaxKind::NamedType, s->id, data.name, s->children};
  unifier_.unify(substitute(data.header.type, substitution), names_.annotation(&written));
  return true;
}

DraftPtr Constructors::construct(SyntaxPtr s, SyntaxPtr name, const DataDefinition& data, Type wanted) {
  const DataConstructor* constructor = find_constructor(data, name->text);
  Substitution substitution;
  parts_.general.instantiate(data.header.scheme(), substitution);
  if (!constructor || !type_arguments(name, data, substitution)) return error(s);
  Type type = substitute(data.header.type, substitution);
  if (wanted) wanted = resolve(wanted);
  if (wanted && wanted->kind == TypeKind::Data && wanted->id == type->id && leaves_dims_open(wanted))
    unifier_.unify(type, wanted);
  bool applied = s != name;
  if (!applied && !constructor->fields.empty()) return function(s, *constructor, type, substitution);
  Given given;
  if (applied && !add_fields(s, *constructor, substitution, given)) return error(s, type);
  for (size_t i = 0; i < given.values.size(); ++i) {
    const DataField& field = constructor->fields[i];
    std::string what = field.name.empty() ? fmt::format("field {} of `{}`", i, name->text)
                                          : fmt::format("the field `{}` of `{}`", field.name, name->text);
    assignments_.expect(given.at[i], substitute(field.type, substitution), given.values[i]->type, what,
                        {{field.place, "the field is declared here"}}, DiagnosticKind::TypeMismatch,
                        given.values[i]);
  }
  return make(s, type, *constructor, name->text, given.values);
}

DraftPtr Constructors::function(SyntaxPtr s, const DataConstructor& constructor, Type type,
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
                      {make(s, type, constructor, s->text, fields)});
}

DraftPtr Constructors::make(SyntaxPtr s, Type type, const DataConstructor& constructor,
                            std::string_view written, const std::vector<DraftPtr>& fields) {
  return drafts_.form(origin(s), type,
                      ConstructExpr{.constructor = constructor.interned, .name = drafts_.copy(written)},
                      fields);
}

}  // namespace quern
