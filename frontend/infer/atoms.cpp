// The walk of inference over what has no parts: literals and names.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/inference.h"
#include "frontend/text/suggest.h"

namespace quern {

namespace {

/// What is called as an operator is and is none: part of the language.
constexpr std::string_view kCalledForms[] = {"print",        "load",        "save", "ref",
                                             "ref_read",     "ref_write",   "grad", "value_and_grad",
                                             "assert_close", "assert_equal"};

}  // namespace

DraftPtr Inference::number(SyntaxPtr s) {
  if (s->is(SyntaxKind::Bool)) {
    return literal(s, scalar_type(DType::boolean()), {{NumberLiteral{true, s->text == "True"}, s}}, true);
  }
  auto number = parse_number(s->text);
  if (!number) {
    NumberProblem problem = number_problem(s->text);
    report(problem.kind, s, problem.message);
    return error(s);
  }
  bool wide = number->is_integer && number->integer != static_cast<int32_t>(number->integer);
  DType dtype = number->dtype
                    ? *number->dtype
                    : unifier.fresh_dtype(number->is_integer ? DTypeClass::Number : DTypeClass::Float, wide);
  return literal(s, scalar_type(dtype), {{*number, s}}, false);
}

DraftPtr Inference::literal(SyntaxPtr s, Type type, const std::vector<LiteralDraft::Element>& elements,
                            bool is_bool) {
  return drafts_.make<LiteralDraft>(origin(s), type, drafts_.copy(elements), is_bool);
}

bool Inference::literal_elements(SyntaxPtr s, std::vector<int64_t>& shape, size_t depth,
                                 LiteralElements& draft) {
  if (!s->is(SyntaxKind::List)) {
    if (depth != shape.size()) {
      report(DiagnosticKind::RaggedLiteral, s, "the rows of a tensor literal have to be nested equally deep");
      return false;
    }
    if (s->is(SyntaxKind::Bool)) {
      draft.is_bool = true;
      draft.elements.emplace_back(NumberLiteral{true, s->text == "True"}, s);
      return true;
    }
    auto literal = s->is(SyntaxKind::Int) || s->is(SyntaxKind::Float) ? parse_number(s->text) : std::nullopt;
    if (!literal) {
      report(DiagnosticKind::TypeMismatch, s,
             is_operand(s)
                 ? "a tensor literal holds numbers; several tensors make a tuple, `(%a, %b)`, or one "
                   "tensor with `stack((%a, %b))`"
                 : "a tensor literal holds numbers; build a tensor from values with an index expression");
      return false;
    }
    draft.elements.emplace_back(*literal, s);
    return true;
  }
  auto count = static_cast<int64_t>(s->children.size());
  // The first row at each depth fixes the extent of the others.
  if (depth == shape.size()) {
    if (!draft.elements.empty()) {
      report(DiagnosticKind::RaggedLiteral, s, "the rows of a tensor literal have to be nested equally deep");
      return false;
    }
    shape.push_back(count);
  }
  if (shape[depth] != count) {
    report(DiagnosticKind::RaggedLiteral, s,
           fmt::format("this row has {} element{} where the first has {}", count, count == 1 ? "" : "s",
                       shape[depth]));
    return false;
  }
  for (SyntaxPtr c : s->children)
    if (!literal_elements(c, shape, depth + 1, draft)) return false;
  return true;
}

DraftPtr Inference::tensor_literal(SyntaxPtr s) {
  LiteralElements draft;
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
    if (suffix && literal.dtype && *suffix != *literal.dtype) {
      report(DiagnosticKind::DTypeMismatch, at,
             fmt::format("the numbers of a tensor have one dtype: this is {}, and one before it {}",
                         to_string(*literal.dtype), to_string(*suffix)));
      return error(s);
    }
    if (literal.dtype) suffix = literal.dtype;
    wide |= literal.is_integer && literal.integer != static_cast<int32_t>(literal.integer);
  }
  if (draft.elements.empty()) dtype_class = DTypeClass::Float;
  DType dtype = draft.is_bool ? DType::boolean() : suffix ? *suffix : unifier.fresh_dtype(dtype_class, wide);
  std::vector<Dim> dims;
  dims.reserve(shape.size());
  for (int64_t extent : shape) dims.push_back(dim_const(extent));
  return literal(s, tensor_type(dims, dtype), draft.elements, draft.is_bool);
}

// A variable of an earlier statement, and what is known of it.
const Variable* Inference::top_level(const TopLevelVariable& top) {
  const Variable* variable = top.variable;
  if (!finished_variables_.try_emplace(variable, variable).second) return variable;
  variable_places_[variable] = top.place;
  if (top.scheme.is_general() || top.scheme.specialised) schemes_.emplace(variable, top.scheme);
  if (!top.literal) return variable;
  // What a general function of a statement refers to is what it could see there.
  Template made{top.literal->syntax, top.literal->id, {}, {}};
  for (const std::shared_ptr<const TopLevelVariable>& seen : top.captured)
    made.captured.push_back({seen->variable->name, top_level(*seen)});
  templates_.emplace(variable, std::move(made));
  top_level_templates_.push_back(variable);
  return variable;
}

DraftPtr Inference::local(SyntaxPtr s) {
  const Variable* variable = nullptr;
  if (const LocalName* known = find_local(s->text))
    variable = known->variable;
  else if (const TopLevelVariable* top = scope_.variable(s->text))
    variable = top_level(*top);
  if (variable && schemes_.contains(variable)) return general_local(s, variable);
  if (variable) return drafts_.read(origin(s), variable, variable->type);
  std::string sigil = "%" + std::string(s->text);
  if (scope_.has_top_level_variable(s->text)) {
    report(
        DiagnosticKind::TopLevelVariableInDef, s,
        fmt::format("a definition cannot see the top-level variable `{0}`; pass it as a parameter", sigil));
    return error(s);
  }
  // Its `let` may be inside a statement that did not parse: that one is reported.
  if (scope_.in_broken_declaration(s->text)) return error(s);
  std::vector<std::string> candidates;
  for (const std::string& known : scope_.names(Scope::Names::Variables)) candidates.push_back("%" + known);
  for (const LocalName& known : locals_) candidates.push_back("%" + std::string(known.name));
  for (const std::string& known : scope_.names(Scope::Names::Globals))
    if (known == s->text) candidates.push_back("@" + known);
  Suggestion meant = suggest(did_you_mean(sigil, candidates), place(s));
  report(DiagnosticKind::UnknownName, s, fmt::format("unknown variable `{}`{}", sigil, meant.text), {},
         std::move(meant.fixes));
  return error(s);
}

void Inference::instantiate(const Scheme& scheme, Substitution& substitution) {
  for (Dim d : scheme.dim_vars) substitution.dims.emplace(d, unifier.fresh_dim());
  for (Type t : scheme.type_vars) substitution.types.emplace(t, unifier.fresh_type());
  for (const auto& [t, dtype_class] : scheme.dtype_vars)
    substitution.dtypes.emplace(t, unifier.fresh_dtype(dtype_class));
}

DraftPtr Inference::global(SyntaxPtr s) {
  std::string_view name = drafts_.copy(s->text);
  auto member = group_types.find(s->text);
  if (member != group_types.end()) {
    auto copy = group_names.find(s->text);
    if (copy != group_names.end()) name = drafts_.copy(std::string_view(copy->second));
    return drafts_.form(origin(s), member->second, GlobalExpr{.name = name, .module = scope_.module()});
  }
  if (!scope_.has_global(s->text)) {
    if (scope_.in_broken_import(s->text)) return broken_elsewhere(s);
    std::vector<std::string> known;
    for (const std::string& g : scope_.names(Scope::Names::Globals)) known.push_back("@" + g);
    for (const auto& [member_name, type] : group_types) known.push_back("@" + member_name);
    std::string written = "@" + std::string(s->text);
    std::optional<std::string> near = did_you_mean(written, known);
    if (!near && scope_.op(s->text)) near = std::string(s->text);
    Place at = place(s);
    at.part = Part::Head;
    at.length = static_cast<uint32_t>(written.size());
    Suggestion meant = suggest(near, at);
    report(DiagnosticKind::UnknownFunction, s, fmt::format("unknown function `{}`{}", written, meant.text),
           {}, std::move(meant.fixes));
    return error(s);
  }
  if (const Declaration* head = scope_.global(s->text); head && has_attributes_or_packs(*head))
    return operator_value(s, *head);
  const Scheme* scheme = scope_.scheme(s->text);
  if (!scheme || contains_error(scheme->type)) return broken_elsewhere(s);
  return global_at(s, name, *scheme);
}

DraftPtr Inference::broken_elsewhere(SyntaxPtr s) {
  uses_broken = true;
  return error(s);
}

DraftPtr Inference::bare_name(SyntaxPtr s, Type wanted) {
  if (auto bound = env.statics.find(s->text); bound != env.statics.end()) {
    const StaticValue& value = bound->second;
    if (value.as_dim())
      return drafts_.form(origin(s), scalar_type(DType::index()), DimValueExpr{.dim = value.as_dim()});
    if (value.as_float() || value.as_bool()) {
      DType dtype = value.as_bool() ? DType::boolean() : unifier.fresh_dtype(DTypeClass::Float);
      NumberLiteral number{value.as_bool() != nullptr, value.as_bool() && *value.as_bool()};
      if (value.as_float()) number.real = *value.as_float();
      return literal(s, scalar_type(dtype), {{number, s}}, value.as_bool() != nullptr);
    }
  }
  if (const DataDefinition* data = scope_.data_of_constructor(s->text)) return construct(s, s, *data, wanted);
  if (const Declaration* op = scope_.op(s->text)) return operator_value(s, *op);
  if (std::ranges::find(kCalledForms, s->text) != std::end(kCalledForms)) {
    report(DiagnosticKind::NoValueHere, s,
           fmt::format("`{0}` is no value by itself: it is called, `{0}(…)`", s->text));
    return error(s);
  }
  report_unknown(s, DiagnosticKind::UnknownName, "name");
  return error(s);
}

bool Inference::is_visible_local(std::string_view name) {
  for (const LocalName& known : locals_)
    if (known.name == name) return true;
  return scope_.variable(name) != nullptr;
}

void Inference::report_unknown(SyntaxPtr s, DiagnosticKind kind, std::string_view what) {
  std::string name(s->text);
  // It may have been bound by a statement that did not parse: that one is reported.
  if (scope_.in_broken_declaration(name) || scope_.in_broken_import(name)) return;
  Place at{origin(s), {}, Part::Head, static_cast<uint32_t>(name.size())};
  auto say = [&](DiagnosticKind k, std::string message, std::vector<Fix> fixes = {}) {
    diagnostics.push_back({k, at, std::move(message), {}, std::move(fixes)});
  };
  auto write = [&](const std::string& text) { return suggest(text, at).fixes; };
  // `flip` means the operator of other libraries sooner than this library's `@flip`.
  const ForeignName* foreign = find_foreign_name(name);
  const Declaration* declared = foreign && scope_.has_global(name) ? scope_.global(name) : nullptr;
  bool other = declared && scope_.home(*declared).module() != scope_.module();
  bool global = (scope_.has_global(name) && !other) || group_types.contains(name);
  if (is_visible_local(name) || global) {
    std::string meant = (global && !is_visible_local(name) ? "@" : "%") + name;
    return say(DiagnosticKind::MissingSigil,
               fmt::format("`{}` lacks its sigil: the {} of this name is `{}`", name,
                           meant[0] == '@' ? "function" : "variable", meant),
               write(meant));
  }
  if (name == "true" || name == "false") {
    std::string meant = name == "true" ? "True" : "False";
    return say(DiagnosticKind::UnknownName, fmt::format("unknown name `{}`; write `{}`", name, meant),
               write(meant));
  }
  if (name == "meta")
    return say(DiagnosticKind::UnknownName,
               "`meta` stands before a constant of the metadata: `meta[relay.Constant][0]`");
  std::vector<std::string> known = scope_.names(Scope::Names::Operators);
  auto exists = [&](std::string_view n) { return std::find(known.begin(), known.end(), n) != known.end(); };
  // A declared operator without a declaration has not parsed, and that is reported.
  if (exists(name)) return;
  std::string bare(without_foreign_module(name));
  if (has_foreign_module(name) && exists(bare))
    return say(DiagnosticKind::ForeignName, fmt::format("`{}` is `{}` here", name, bare), write(bare));
  if (foreign && (foreign->meaning.empty() || exists(foreign->meaning))) {
    if (foreign->meaning.empty() && foreign->remark.empty())
      return say(
          DiagnosticKind::ForeignName,
          fmt::format("the library has no `{0}`; a file may define it: `op {0}(%x: Tensor[s, t]) -> …`",
                      bare));
    if (foreign->remark.empty())
      return say(DiagnosticKind::ForeignName, fmt::format("`{}` is `{}` here", name, foreign->meaning),
                 write(std::string(foreign->meaning)));
    return say(DiagnosticKind::ForeignName,
               fmt::format("`{}` is written otherwise here: {}", name, foreign->remark));
  }
  for (std::string& c : scope_.names(Scope::Names::Constructors)) known.push_back(std::move(c));
  for (std::string_view form : kCalledForms) known.emplace_back(form);
  for (const auto& [bound, value] : env.statics) known.push_back(bound);
  Suggestion meant = suggest(did_you_mean(bare, known), at);
  if (meant.text.empty() && has_foreign_module(name))
    return say(
        DiagnosticKind::ForeignName,
        fmt::format(
            "`{}` is a name of another library; operators here have no such prefix, and there is no `{}`",
            name, bare));
  say(kind, fmt::format("unknown {} `{}`{}", what, name, meant.text), std::move(meant.fixes));
}

}  // namespace quern
