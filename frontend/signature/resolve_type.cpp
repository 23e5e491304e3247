#include "frontend/signature/resolve_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"

namespace quern {

namespace {

class Resolver {
 public:
  Resolver(const TypeEnv& env, StaticEvaluator& evaluator, Scope& scope, Diagnostics& diagnostics,
           uint32_t declaration)
      : env_(env),
        evaluator_(evaluator),
        scope_(scope),
        diagnostics_(diagnostics),
        declaration_(declaration) {}

  Type resolve(SyntaxPtr s) {
    if (!s) return error_type();
    switch (s->kind) {
      case SyntaxKind::HoleType:
        return TypeScratch::current() ? TypeScratch::current()->fresh() : error_type();
      case SyntaxKind::TensorType: return tensor(s);
      case SyntaxKind::TupleType: return tuple_type(all(s->children));
      case SyntaxKind::FunctionType: {
        std::vector<Type> parts = all(s->children);
        if (parts.empty()) return error_type();  // half-typed: `fn`
        Type result = parts.back();
        parts.pop_back();
        return function_type(parts, result);
      }
      case SyntaxKind::FamilyType: return family(s);
      case SyntaxKind::NamedType: return named(s);
      case SyntaxKind::GeneralType:
        report(DiagnosticKind::HigherRank, s,
               "a value is a function at one type: only what `def` or `let %f = fn …` binds can be general; "
               "leave "
               "out the brackets, and name the parameters in those of the definition around");
        return error_type();
      case SyntaxKind::CasesType: return cases(s);
      default: return error_type();
    }
  }

 private:
  std::vector<Type> all(std::span<const SyntaxPtr> list) {
    std::vector<Type> types;
    for (SyntaxPtr s : list) types.push_back(resolve(s));
    return types;
  }

  Type tensor(SyntaxPtr s) {
    if (is_dtype(s->child(0)) && !is_dtype(s->child(1))) {
      report(DiagnosticKind::TensorTypeForm, s,
             "the shape of a tensor type comes first: `Tensor[(2, 3), float32]`");
      return error_type();
    }
    if (SyntaxPtr one = s->child(0); is_single_dim(one)) {
      Place at{{declaration_, one->id}, {}}, before = at, after = at;
      before.part = Part::Before;
      after.part = Part::After;
      diagnostics_.push_back(
          {DiagnosticKind::TensorTypeForm,
           at,
           fmt::format("a shape stands in parentheses, also with one dim: `({},)`", one->text),
           {},
           {{fmt::format("write `({},)`", one->text), {{before, "("}, {after, ",)"}}}}});
      return error_type();
    }
    if (foreign_unknown_dim(s->child(0))) return error_type();
    auto shape = evaluator_.shape(s->child(0), env_.statics);
    auto dtype = is_index(s->child(1)) ? DType::index() : evaluator_.dtype(s->child(1), env_.statics);
    if (!shape || !dtype) return error_type();
    for (Dim d : *shape)
      if (auto c = as_const(d); c && *c < 0) {
        report(DiagnosticKind::DimMismatch, s->child(0),
               fmt::format("the shape {} has a negative extent", shape_to_string(*shape)));
        return error_type();
      }
    return tensor_type(*shape, *dtype);
  }

  /// `None` or `-1`, which other libraries use for an unknown extent.
  bool foreign_unknown_dim(SyntaxPtr shape) {
    if (!shape || !shape->is(SyntaxKind::Tuple)) return false;
    for (SyntaxPtr item : shape->children) {
      if (!item || !(item->is(SyntaxKind::None) || (item->is(SyntaxKind::Int) && item->text == "-1")))
        continue;
      Place at{{declaration_, item->id}, {}};
      diagnostics_.push_back({DiagnosticKind::TensorTypeForm,
                              at,
                              "an extent that is not known before the program runs is `?`, or a letter that "
                              "stands for any: `[n]` before the parameters",
                              {},
                              {{"write `?`", {{at, "?"}}}}});
      return true;
    }
    return false;
  }

  /// The dtype of dims and lengths as values.
  bool is_index(SyntaxPtr s) const {
    return s && (s->is(SyntaxKind::Name) || s->is(SyntaxKind::NamedType)) &&
           s->text == to_string(DType::index()) && !env_.statics.contains(s->text);
  }
  bool is_dtype(SyntaxPtr s) const {
    return s && s->is(SyntaxKind::Name) && !env_.statics.contains(s->text) && parse_dtype(s->text);
  }
  // An integer or the name of a dim where a list of dims is expected.
  bool is_single_dim(SyntaxPtr s) const {
    if (!s || s->is(SyntaxKind::Int)) return s != nullptr;
    const bool is_name = s->is(SyntaxKind::Name) || (s->is(SyntaxKind::NamedType) && s->children.empty());
    auto bound = is_name ? env_.statics.find(s->text) : env_.statics.end();
    return bound != env_.statics.end() && bound->second.as_dim() != nullptr;
  }

  Type cases(SyntaxPtr s) {
    for (size_t i = 0; i + 1 < s->children.size(); i += 2) {
      auto holds = evaluator_.boolean(s->children[i], env_.statics);
      if (!holds) return error_type();
      if (*holds) return resolve(s->children[i + 1]);
    }
    return s->children.empty() ? error_type() : resolve(s->children.back());  // half-typed: `{ when`
  }

  Type family(SyntaxPtr s) {
    auto limit = evaluator_.dim(s->child(1), env_.statics);
    if (!limit || !as_const(*limit)) return error_type();
    TypeEnv inner = env_;
    std::vector<Type> fields;
    for (int64_t k = 0; k < *as_const(*limit); ++k) {
      inner.statics.insert_or_assign(s->text, StaticValue::integer(k));
      fields.push_back(Resolver(inner, evaluator_, scope_, diagnostics_, declaration_).resolve(s->child(0)));
    }
    return tuple_type(fields);
  }

  Type named(SyntaxPtr s) {
    if (auto bound = env_.types.find(s->text); bound != env_.types.end()) return bound->second;
    if (auto bound = env_.statics.find(s->text); bound != env_.statics.end() && bound->second.as_dtype())
      return scalar_type(*bound->second.as_dtype());
    if (auto dtype = parse_dtype(s->text)) return takes(0, s, "") ? scalar_type(*dtype) : error_type();
    if (s->text == "Ref") return takes(1, s, "Ref[A]") ? ref_type(type_argument(s, 0)) : error_type();
    if (const TypeAlias* alias = scope_.alias(s->text)) return of_alias(s, *alias);
    if (is_single_dim(s)) {
      report(DiagnosticKind::UnknownType, s, fmt::format("`{}` is a dim, and a type stands here", s->text));
      return error_type();
    }
    const DataHeader* header = scope_.data_header(s->text);
    if (!header && is_index(s)) return takes(0, s, "") ? scalar_type(DType::index()) : error_type();
    if (!header) {
      if (scope_.in_broken_import(s->text)) return error_type();
      std::vector<std::string> known = scope_.names(Scope::Names::Types);
      for (const auto& [name, type] : env_.types) known.push_back(name);
      known.emplace_back("Tensor");
      std::optional<std::string> meant(foreign_type(s->text));
      if (meant->empty()) meant = did_you_mean(s->text, known);
      Place at{{declaration_, s->id}, {}, Part::Head, static_cast<uint32_t>(s->text.size())};
      Suggestion suggestion = suggest(meant, at);
      // A tensor type needs more than its name.
      if (meant == "Tensor" && s->children.size() != 2) suggestion.fixes.clear();
      diagnostics_.push_back({DiagnosticKind::UnknownType,
                              at,
                              fmt::format("unknown type `{}`{}", s->text, suggestion.text),
                              {},
                              std::move(suggestion.fixes)});
      return error_type();
    }
    if (!takes(header->params.size(), s, to_string(header->type))) return error_type();
    std::vector<Type> arguments;
    for (size_t i = 0; i < header->params.size(); ++i) {
      arguments.push_back(argument(s, i, header->params[i]));
      if (arguments.back()->is_error() && header->params[i]->kind != TypeKind::Var) return error_type();
    }
    return data_type(header->type->name, header->type->id, arguments);
  }

  /// The i-th argument of a named type, which is of its parameter's kind; error_type() after a diagnostic.
  Type argument(SyntaxPtr s, size_t i, Type parameter) {
    const SyntaxPtr given = s->child(i);
    if (parameter->kind == TypeKind::Dim) return dim_argument_of(s, given, parameter);
    if (!parameter->is_tensor()) return type_argument(s, i);
    if (given->is(SyntaxKind::HoleType) && evaluator_.hole_dtype) return scalar_type(evaluator_.hole_dtype());
    Type type = type_argument(s, i);
    if (type->is_scalar() || type->is_error()) return type;
    report(DiagnosticKind::WrongTypeArguments, given,
           fmt::format("`{}` of `{}` is a dtype, such as `float32`", to_string(parameter), s->text));
    return error_type();
  }

  Type type_argument(SyntaxPtr s, size_t i) {
    const SyntaxPtr given = s->child(i);
    if (is_type(given) && !is_single_dim(given)) return resolve(given);
    report(DiagnosticKind::WrongTypeArguments, given,
           fmt::format("`{}` takes a type here, and this is a dim", s->text));
    return error_type();
  }

  Type dim_argument_of(SyntaxPtr s, SyntaxPtr given, Type parameter) {
    const bool names_type = given->is(SyntaxKind::NamedType)
                                ? !given->children.empty() || !env_.statics.contains(given->text)
                                : is_type(given) && !given->is(SyntaxKind::HoleType);
    if (names_type && !(given->children.empty() && is_unknown(given->text))) {
      report(DiagnosticKind::WrongTypeArguments, given,
             fmt::format("`{}` of `{}` is a dim: a number, the name of a dim, or `?`", to_string(parameter),
                         s->text));
      return error_type();
    }
    const auto dim = evaluator_.dim(given, env_.statics);
    if (!dim) return error_type();
    if (const auto extent = as_const(*dim); extent && *extent < 0) {
      report(DiagnosticKind::DimMismatch, given,
             fmt::format("`{}` of `{}` is an extent, and {} is negative", to_string(parameter), s->text,
                         *extent));
      return error_type();
    }
    return dim_argument(*dim);
  }
  /// Whether no type has the name.
  bool is_unknown(std::string_view name) {
    return !env_.types.contains(name) && !parse_dtype(name) && !scope_.alias(name) &&
           !scope_.data_header(name);
  }

  Type of_alias(SyntaxPtr s, const TypeAlias& alias) {
    if (!alias.type) {
      report(
          DiagnosticKind::InfiniteType, s,
          fmt::format("`{}` is defined by itself: an alias is another name for a type that there is; values "
                      "that hold values of their own type have a constructor, `type {} {{ … }}`",
                      s->text, s->text));
      return error_type();
    }
    std::string form(s->text);
    for (Type param : alias.params)
      form += fmt::format("{}{}", param == alias.params.front() ? "[" : ", ", to_string(param));
    if (!takes(alias.params.size(), s, alias.params.empty() ? form : form + "]")) return error_type();
    Substitution arguments;
    for (size_t i = 0; i < alias.params.size(); ++i) {
      const Type given = argument(s, i, alias.params[i]);
      if (given->is_error()) return error_type();
      bind_parameter(arguments, alias.params[i], given);
    }
    return substitute(alias.type, arguments);
  }

  /// Whether a name has its type arguments, as in `form`.
  bool takes(size_t count, SyntaxPtr s, const std::string& form) {
    if (count == s->children.size()) return true;
    report(DiagnosticKind::WrongArgumentCount, s,
           fmt::format("`{}` takes {} type argument{} and is given {}{}", s->text,
                       count == 0 ? "no" : std::to_string(count), count == 1 ? "" : "s",
                       s->children.empty() ? "none" : std::to_string(s->children.size()),
                       count > 0 ? fmt::format(": write `{}`", form) : ""));
    return false;
  }

  void report(DiagnosticKind kind, SyntaxPtr at, std::string message) {
    diagnostics_.push_back({kind, {{declaration_, at->id}, {}}, std::move(message), {}});
  }

  const TypeEnv& env_;
  StaticEvaluator& evaluator_;
  Scope& scope_;
  Diagnostics& diagnostics_;
  uint32_t declaration_;
};

}  // namespace

bool names_open_pack(SyntaxPtr type, const TypeEnv& env) {
  if (!type || env.open_packs.empty()) return false;
  if (type->is(SyntaxKind::Name) && env.open_packs.contains(type->text)) return true;
  return std::ranges::any_of(type->children, [&](SyntaxPtr c) { return names_open_pack(c, env); });
}

Type resolve_type(SyntaxPtr syntax, const TypeEnv& env, StaticEvaluator& evaluator, Scope& scope,
                  Diagnostics& diagnostics, uint32_t declaration) {
  return Resolver(env, evaluator, scope, diagnostics, declaration).resolve(syntax);
}

}  // namespace quern
