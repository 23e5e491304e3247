#include "frontend/signature/declared_types.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace quern {

namespace {

enum class ParameterKind { Type, DType, Dim };

/// What kind a declaration's parameter is of: a dim where it stands in a shape, a dtype where it stands in a
/// tensor's type after the shape, and otherwise what the data type or alias to which it is passed takes.
/// By the texts alone, so that types may refer to each other.
class Uses {
 public:
  ParameterKind kind_of(const Declaration& declaration, size_t parameter, Scope& scope) {
    if (!visited_.emplace(declaration.id, parameter).second) return ParameterKind::Type;
    const std::string_view name = declaration.syntax->child(0)->child(parameter)->text;
    for (SyntaxPtr part : declaration.syntax->children.subspan(1)) {
      const ParameterKind kind = in(part, name, scope);
      if (kind != ParameterKind::Type) return kind;
    }
    return ParameterKind::Type;
  }

 private:
  static bool mentions(SyntaxPtr s, std::string_view name) {
    if (!s) return false;
    if (s->text == name && (s->is(SyntaxKind::Name) || s->is(SyntaxKind::NamedType))) return true;
    return std::ranges::any_of(s->children, [&](SyntaxPtr c) { return mentions(c, name); });
  }

  ParameterKind in(SyntaxPtr s, std::string_view name, Scope& scope) {
    if (!s) return ParameterKind::Type;
    if (s->is(SyntaxKind::TensorType)) {
      if (mentions(s->child(0), name)) return ParameterKind::Dim;
      return mentions(s->child(1), name) ? ParameterKind::DType : ParameterKind::Type;
    }
    for (size_t i = 0; i < s->children.size(); ++i) {
      const ParameterKind kind =
          s->is(SyntaxKind::NamedType) ? argument(s, i, name, scope) : in(s->children[i], name, scope);
      if (kind != ParameterKind::Type) return kind;
    }
    return ParameterKind::Type;
  }

  ParameterKind argument(SyntaxPtr s, size_t i, std::string_view name, Scope& scope) {
    const SyntaxPtr given = s->children[i];
    if (given && !is_type(given)) return mentions(given, name) ? ParameterKind::Dim : ParameterKind::Type;
    const bool is_name = given && given->is(SyntaxKind::NamedType) && given->text == name;
    if (!is_name) return in(given, name, scope);
    const Declaration* declared = scope.type_declaration(s->text);
    const SyntaxPtr list = declared ? declared->syntax->child(0) : nullptr;
    if (!list || i >= list->children.size()) return ParameterKind::Type;
    return kind_of(*declared, i, scope.home(*declared));
  }

  std::set<std::pair<uint32_t, size_t>> visited_;
};

Type parameter_of(ParameterKind kind, std::string_view name) {
  switch (kind) {
    case ParameterKind::Dim: return dim_argument(dim_var(name));
    case ParameterKind::DType: return scalar_type(dtype_var(std::string(name)));
    case ParameterKind::Type: break;
  }
  return type_var(name);
}

std::vector<Type> declared_parameters(const Declaration& declaration, Scope& scope) {
  std::vector<Type> parameters;
  const SyntaxPtr list = declaration.syntax->child(0);
  for (size_t i = 0; list && i < list->children.size(); ++i)
    parameters.push_back(parameter_of(Uses().kind_of(declaration, i, scope), list->children[i]->text));
  return parameters;
}

/// The parameters' names, in the declaration's own text.
TypeEnv within(const std::vector<Type>& parameters) {
  TypeEnv env;
  for (Type parameter : parameters) {
    const std::string name = to_string(parameter);
    if (parameter->kind == TypeKind::Dim)
      env.statics.insert_or_assign(name, StaticValue(parameter->dims[0]));
    else if (parameter->is_tensor())
      env.statics.insert_or_assign(name, StaticValue(parameter->dtype));
    else
      env.types.insert_or_assign(name, parameter);
  }
  return env;
}

}  // namespace

std::span<const Type> parameters_of(std::string_view type_name, Scope& scope) {
  if (const TypeAlias* alias = scope.alias(type_name)) return alias->params;
  const DataHeader* header = scope.data_header(type_name);
  return header ? std::span<const Type>(header->params) : std::span<const Type>();
}

static SyntaxPtr hole_in(SyntaxPtr type) {
  if (!type || type->is(SyntaxKind::HoleType)) return type;
  for (SyntaxPtr c : type->children)
    if (SyntaxPtr hole = hole_in(c)) return hole;
  return nullptr;
}

TypeAlias resolve_alias(const Declaration& declaration, Scope& scope, Diagnostics& diagnostics) {
  TypeAlias alias{declared_parameters(declaration, scope)};
  const TypeEnv env = within(alias.params);
  SyntaxPtr written = declaration.syntax->child(1);
  if (SyntaxPtr hole = hole_in(written)) {
    diagnostics.push_back(
        {DiagnosticKind::CannotInfer,
         {{declaration.id, hole->id}, {}},
         "an alias is written out: nothing tells what `_` stands for here; a parameter leaves "
         "a part open, `type P[A] = (A, float32)`",
         {}});
    alias.type = error_type();
    return alias;
  }
  StaticEvaluator evaluator(scope, declaration.id, diagnostics);
  alias.type = resolve_type(written, env, evaluator, scope, diagnostics, declaration.id);
  return alias;
}

DataHeader make_data_header(const Declaration& declaration, Scope& scope) {
  DataHeader header{declared_parameters(declaration, scope), nullptr};
  uint64_t id = std::hash<std::string>()(dump(declaration.syntax));
  header.type = data_type(declaration.name, id, header.params);
  return header;
}

/// Whether a type mentions a parameter.
static bool depends_on(Type type, Type parameter) {
  return has_parameter(type, parameter) ||
         std::ranges::any_of(type->args, [&](Type arg) { return depends_on(arg, parameter); });
}

/// Bit k is set if the type depends on parameter k.
static uint64_t parameters_in(Type type, const std::vector<Type>& parameters) {
  uint64_t found = 0;
  for (size_t k = 0; k < std::min<size_t>(parameters.size(), 64); ++k)
    if (depends_on(type, parameters[k])) found |= uint64_t{1} << k;
  return found;
}

DataDefinition resolve_data(const Declaration& declaration, const DataHeader& header, Scope& scope,
                            Diagnostics& diagnostics) {
  bool is_extern = declaration.syntax->is(SyntaxKind::ExternType);
  DataDefinition definition{declaration.name, declaration.id, header, {}, is_extern};
  StaticEvaluator evaluator(scope, declaration.id, diagnostics);
  const TypeEnv env = within(header.params);
  if (!declaration.syntax->is(SyntaxKind::TypeDecl)) return definition;
  uint32_t tag = 0;
  std::vector<ConstructorSpec> specs;
  for (SyntaxPtr c : declaration.syntax->children.subspan(1)) {
    DataConstructor constructor{std::string(c->text), tag++, {}, c->id};
    for (SyntaxPtr f : c->children) {
      Type type = resolve_type(f->child(0), env, evaluator, scope, diagnostics, declaration.id);
      constructor.fields.push_back({std::string(f->text), type, {{declaration.id, f->id}, {}}});
    }
    ConstructorSpec& spec = specs.emplace_back(ConstructorSpec{constructor.name, {}});
    for (const DataField& field : constructor.fields) {
      spec.fields.push_back(field.name);
      spec.parameters.push_back(parameters_in(field.type, header.params));
    }
    definition.constructors.push_back(std::move(constructor));
  }
  std::span<const Constructor> interned = data_constructors(definition.name, header.type->id, specs);
  for (DataConstructor& constructor : definition.constructors)
    constructor.interned = &interned[constructor.tag];
  return definition;
}

}  // namespace quern
