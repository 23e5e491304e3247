// The walk of inference over what has no parts: literals and names.

#include <fmt/format.h>

#include "frontend/inference.h"
#include "frontend/suggest.h"

namespace quern {

ExprPtr Inference::number(SyntaxPtr s) {
  if (s->is(SyntaxKind::Bool)) {
    LiteralDraft draft{{{NumberLiteral{true, s->text == "True"}, s}}, true};
    ExprPtr e = drafts_.make<ConstExpr>(Expr{ExprKind::Const, scalar_type(DType::boolean()), origin(s)});
    literals_[e] = draft;
    return e;
  }
  auto literal = parse_number(s->text);
  if (!literal) {
    report(DiagnosticKind::MalformedLiteral, s,
           fmt::format("`{}` is not a number of a known dtype", s->text));
    return error(s);
  }
  bool wide = literal->is_integer && literal->integer != static_cast<int32_t>(literal->integer);
  DType dtype = literal->dtype
                    ? *literal->dtype
                    : unifier.fresh_dtype(literal->is_integer ? DTypeClass::Number : DTypeClass::Float, wide);
  ExprPtr e = drafts_.make<ConstExpr>(Expr{ExprKind::Const, scalar_type(dtype), origin(s)});
  literals_[e] = {{{*literal, s}}, false};
  return e;
}

bool Inference::literal_elements(SyntaxPtr s, std::vector<int64_t>& shape, size_t depth,
                                 LiteralDraft& draft) {
  if (!s->is(SyntaxKind::List)) {
    if (depth != shape.size()) {
      report(DiagnosticKind::RankMismatch, s, "the rows of a tensor literal have to be nested equally deep");
      return false;
    }
    if (s->is(SyntaxKind::Bool)) {
      draft.is_bool = true;
      draft.elements.emplace_back(NumberLiteral{true, s->text == "True"}, s);
      return true;
    }
    auto literal = s->is(SyntaxKind::Int) || s->is(SyntaxKind::Float) ? parse_number(s->text) : std::nullopt;
    if (!literal) {
      report(DiagnosticKind::NotYetSupported, s,
             "a tensor literal holds numbers; build a tensor from values with an index expression");
      return false;
    }
    draft.elements.emplace_back(*literal, s);
    return true;
  }
  auto count = static_cast<int64_t>(s->children.size());
  // The first row at each depth fixes the extent of the others.
  if (depth == shape.size()) {
    if (!draft.elements.empty()) {
      report(DiagnosticKind::RankMismatch, s, "the rows of a tensor literal have to be nested equally deep");
      return false;
    }
    shape.push_back(count);
  }
  if (shape[depth] != count) {
    report(DiagnosticKind::DimMismatch, s,
           fmt::format("this row has {} elements where the first has {}", count, shape[depth]));
    return false;
  }
  for (SyntaxPtr c : s->children)
    if (!literal_elements(c, shape, depth + 1, draft)) return false;
  return true;
}

ExprPtr Inference::tensor_literal(SyntaxPtr s) {
  LiteralDraft draft;
  std::vector<int64_t> shape;
  if (!literal_elements(s, shape, 0, draft)) return error(s);
  for (auto& [literal, at] : draft.elements)
    if (draft.is_bool && !at->is(SyntaxKind::Bool)) {
      report(DiagnosticKind::DTypeMismatch, at, "this row of a bool tensor holds a number");
      return error(s);
    }
  DTypeClass dtype_class = DTypeClass::Number;
  std::optional<DType> suffix;
  bool wide = false;
  for (auto& [literal, at] : draft.elements) {
    if (!literal.is_integer) dtype_class = DTypeClass::Float;
    if (literal.dtype) suffix = literal.dtype;
    wide |= literal.is_integer && literal.integer != static_cast<int32_t>(literal.integer);
  }
  if (draft.elements.empty()) dtype_class = DTypeClass::Float;
  DType dtype = draft.is_bool ? DType::boolean() : suffix ? *suffix : unifier.fresh_dtype(dtype_class, wide);
  std::vector<Dim> dims;
  for (int64_t extent : shape) dims.push_back(dim_const(extent));
  ExprPtr e = drafts_.make<ConstExpr>(Expr{ExprKind::Const, tensor_type(dims, dtype), origin(s)});
  literals_[e] = std::move(draft);
  return e;
}

ExprPtr Inference::local(SyntaxPtr s) {
  for (auto it = locals_.rbegin(); it != locals_.rend(); ++it)
    if (it->name == s->text)
      return drafts_.make<VarExpr>(Expr{ExprKind::Var, it->variable->type, origin(s)}, it->variable);
  if (const TopLevelVariable* top = scope_.variable(s->text)) {
    variable_places_[top->variable] = top->place;
    finished_variables_[top->variable] = top->variable;
    return drafts_.make<VarExpr>(Expr{ExprKind::Var, top->variable->type, origin(s)}, top->variable);
  }
  std::string sigil = "%" + std::string(s->text);
  if (scope_.has_top_level_variable(s->text)) {
    report(
        DiagnosticKind::TopLevelVariableInDef, s,
        fmt::format("a definition cannot see the top-level variable `{0}`; pass it as a parameter", sigil));
    return error(s);
  }
  // Its `let` may be inside a statement that did not parse: that one is reported.
  if (scope_.in_broken_statement(s->text)) return error(s);
  std::vector<std::string> candidates = scope_.names(Scope::Names::Variables);
  for (const LocalName& known : locals_) candidates.emplace_back(known.name);
  auto near = did_you_mean(s->text, candidates);
  report(DiagnosticKind::UnknownName, s,
         fmt::format("unknown variable `{}`{}", sigil, near ? "; did you mean `%" + *near + "`?" : ""));
  return error(s);
}

std::pair<std::vector<Dim>, std::vector<Type>> Inference::instantiate(const Scheme& scheme,
                                                                      Substitution& substitution) {
  std::pair<std::vector<Dim>, std::vector<Type>> fresh;
  for (Dim d : scheme.dim_vars) {
    fresh.first.push_back(unifier.fresh_dim());
    substitution.dims.emplace(d, fresh.first.back());
  }
  for (Type t : scheme.type_vars) {
    fresh.second.push_back(unifier.fresh_type());
    substitution.types.emplace(t, fresh.second.back());
  }
  return fresh;
}

ExprPtr Inference::global(SyntaxPtr s) {
  std::string_view name = drafts_.copy(s->text);
  auto member = group_types.find(s->text);
  if (member != group_types.end())
    return drafts_.make<GlobalExpr>(Expr{ExprKind::Global, member->second, origin(s)}, name,
                                    std::span<const Dim>(), std::span<const Type>(), scope_.module());
  if (!scope_.has_global(s->text)) {
    if (scope_.in_broken_import(s->text)) return error(s);
    auto near = did_you_mean(s->text, scope_.names(Scope::Names::Globals));
    report(DiagnosticKind::UnknownName, s,
           fmt::format("unknown function `@{}`{}", s->text, near ? "; did you mean `@" + *near + "`?" : ""));
    return error(s);
  }
  const Scheme* scheme = scope_.scheme(s->text);
  if (!scheme) return error(s);
  Substitution substitution;
  auto [dims, types] = instantiate(*scheme, substitution);
  Type type = substitute(scheme->type, substitution);
  return drafts_.make<GlobalExpr>(Expr{ExprKind::Global, type, origin(s)}, name, drafts_.copy(dims),
                                  drafts_.copy(types), scope_.module());
}

ExprPtr Inference::bare_name(SyntaxPtr s) {
  if (auto bound = env.statics.find(s->text); bound != env.statics.end()) {
    const StaticValue& value = bound->second;
    if (value.as_dim())
      return drafts_.make<DimValueExpr>(Expr{ExprKind::DimValue, scalar_type(DType::index()), origin(s)},
                                        value.as_dim());
    if (value.as_float() || value.as_bool()) {
      DType dtype = value.as_bool() ? DType::boolean() : unifier.fresh_dtype(DTypeClass::Float);
      ExprPtr e = drafts_.make<ConstExpr>(Expr{ExprKind::Const, scalar_type(dtype), origin(s)});
      NumberLiteral literal{value.as_bool() != nullptr, value.as_bool() && *value.as_bool()};
      if (value.as_float()) literal.real = *value.as_float();
      literals_[e] = {{{literal, s}}, value.as_bool() != nullptr};
      return e;
    }
  }
  if (const DataDefinition* data = scope_.data_of_constructor(s->text)) return construct(s, s->text, *data);
  if (scope_.op(s->text)) return not_yet(s, "an operator as a value");
  if (s->text == "true" || s->text == "false") {
    report(DiagnosticKind::UnknownName, s,
           fmt::format("unknown name `{}`; write `{}`", s->text, s->text == "true" ? "True" : "False"));
    return error(s);
  }
  if (scope_.in_broken_import(s->text)) return error(s);
  std::vector<std::string> candidates = scope_.names(Scope::Names::Operators);
  for (std::string& c : scope_.names(Scope::Names::Constructors)) candidates.push_back(std::move(c));
  auto near = did_you_mean(s->text, candidates);
  report(DiagnosticKind::UnknownName, s,
         fmt::format("unknown name `{}`{}", s->text, near ? "; did you mean `" + *near + "`?" : ""));
  return error(s);
}

}  // namespace quern
