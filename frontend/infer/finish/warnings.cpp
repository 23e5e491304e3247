#include "frontend/infer/finish/warnings.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

namespace {

SyntaxPtr declared_attribute(const Declaration& op, size_t position) {
  for (SyntaxPtr p : params_of(op.syntax)->children)
    if (p->is(SyntaxKind::AttributeParam) && position-- == 0) return p;
  return nullptr;
}

// In a condition, `given` holds the names of the call's attributes, and `values` the elements of its constant
// arguments, None for others.
void bind_call(const OperatorCallDraft& call, StaticEnv& env) {
  StaticList given, values;
  for (size_t i = 0; i < call.call.attributes.size(); ++i) {
    SyntaxPtr declared = declared_attribute(*call.op, i);
    const std::string& name = call.call.attributes[i].first;
    given.emplace_back(name.empty() && declared ? std::string(declared->text) : name);
  }
  for (DraftPtr arg : call.args) {
    StaticList elements;
    auto* literal = as<LiteralDraft>(arg);
    if (literal)
      for (const auto& [number, at] : literal->elements)
        elements.push_back(number.is_integer ? StaticValue::integer(number.integer)
                                             : StaticValue(number.real));
    values.push_back(literal ? StaticValue::list(std::move(elements)) : StaticValue());
  }
  env.insert_or_assign("given", StaticValue::list(std::move(given)));
  env.insert_or_assign("values", StaticValue::list(std::move(values)));
}

// `fix "cast(%a, dtype=\"float32\")"` writes an argument, `fix "strides={pool_size}"` adds an attribute.
std::optional<Fix> fix_of(const OperatorCallDraft& call, SyntaxPtr clause, const StaticEnv& env) {
  if (!clause->child(2)) return std::nullopt;
  std::string text(clause->child(2)->text);
  auto at = [&](SyntaxPtr node, Part part) { return Place{{call.origin.declaration, node->id}, {}, part}; };
  size_t position = 0;
  for (SyntaxPtr p : params_of(call.op->syntax)->children) {
    if (!p->is(SyntaxKind::TensorParam)) continue;
    size_t argument = position++, begin = text.find("%" + std::string(p->text));
    if (begin == std::string::npos || argument >= call.call.tensor_syntax.size()) continue;
    SyntaxPtr node = call.call.tensor_syntax[argument];
    return Fix{fmt::format("write `{}…{}`", text.substr(0, begin), text.substr(begin + p->text.size() + 1)),
               {{at(node, Part::Before), text.substr(0, begin)},
                {at(node, Part::After), text.substr(begin + p->text.size() + 1)}}};
  }
  if (!call.call.syntax->is(SyntaxKind::Call)) return std::nullopt;
  for (size_t open; (open = text.find('{')) != std::string::npos;) {
    size_t close = text.find('}', open);
    auto value = env.find(text.substr(open + 1, close - open - 1));
    if (value == env.end()) return std::nullopt;
    text.replace(open, close - open + 1, to_string(value->second));
  }
  return Fix{fmt::format("write `{}`", text),
             {{at(call.call.syntax->children.back(), Part::After), ", " + text}}};
}

void warn(Context& context, const OperatorCallDraft& call, SyntaxPtr clause, const StaticEnv& env) {
  bool infix = call.call.syntax->is(SyntaxKind::Binary);
  Diagnostic d{
      DiagnosticKind::SurprisingMeaning,
      {{call.origin.declaration, call.call.syntax->id}, {}},
      fmt::format("`{}`: {}", infix ? call.call.syntax->text : call.op->name, clause->child(1)->text),
      {},
      {}};
  if (auto fix = fix_of(call, clause, env)) d.fixes.push_back(std::move(*fix));
  if (std::ranges::find(context.diagnostics, d) == context.diagnostics.end())
    context.diagnostics.push_back(std::move(d));
}

}  // namespace

void warn(Context& context, const OperatorCallDraft& call, const SignatureBinding& binding) {
  std::span<const SyntaxPtr> clauses = call.op->syntax->child(3)->children;
  auto is_warning = [](SyntaxPtr clause) { return clause->is(SyntaxKind::WarnClause); };
  bool stated_elsewhere = !call.need.name.empty();
  if (!context.warns || stated_elsewhere || std::ranges::none_of(clauses, is_warning) ||
      !context.scope.warns_about(call.origin.declaration))
    return;
  StaticEnv env = binding.env;
  bind_call(call, env);
  Diagnostics undecided;  // of conditions over unknown dims
  StaticEvaluator evaluator(context.scope.home(*call.op), call.op->id, undecided);
  for (SyntaxPtr clause : clauses) {
    if (clause->is(SyntaxKind::StaticClause))
      if (auto value = evaluator.evaluate(clause->child(0), env)) env.insert_or_assign(clause->text, *value);
    if (is_warning(clause) && evaluator.boolean(clause->child(0), env).value_or(false))
      warn(context, call, clause, env);
  }
}

}  // namespace quern
