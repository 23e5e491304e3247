// textDocument/hover: types of expressions, documentation of operators, values of variables, costs of functions.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ide/call_cost.h"
#include "ide/hover.h"
#include "ide/name_places.h"
#include "lsp/cursor.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

/// The last values of the variable of a statement, in its file and at a prompt, as Markdown; "" for other names.
std::string last_values(ServerState& state, const Cursor& at) {
  const auto name = ide::name_at(state.session, at.source, at.offset);
  const Document* document = state.documents.of_source(at.source);
  if (!name || !document || name->target.kind != NameKind::Variable) return "";
  const DeclarationId statement = name->target.declared.declaration;
  if (state.session.info(statement).source != at.source) return "";
  const Range range = state.session.range_of(statement);
  const std::string_view written = ide::text_at(state.session, *name);
  std::string text;
  const auto add = [&](std::string_view what, const ide::ValueSummary& value) {
    text += fmt::format("\n\n---\n{}:\n\n{}", what, ide::to_markdown(value));
  };
  for (const KeptResult& kept : state.evaluations.results(document->path, state.session.text(at.source)))
    if (text.empty() && kept.part.range == range && kept.part.value && kept.part.name == written)
      add(kept.is_stale ? "Value of an earlier text" : "Value", *kept.part.value);
  const bool is_top_level =
      std::ranges::any_of(binders_of(state.session.declaration(statement).syntax),
                          [&](SyntaxPtr binder) { return binder->id == name->target.declared.node; });
  if (const ide::ValueSummary* typed = is_top_level ? state.evaluations.typed(written) : nullptr)
    add("Value at a prompt", *typed);
  return text;
}

/// How long calls of the named function took when it was last timed; "" for other names.
std::string last_time(ServerState& state, const Cursor& at) {
  const auto name = ide::name_at(state.session, at.source, at.offset);
  if (!name || name->target.kind != NameKind::Definition) return "";
  const DeclarationId function = name->target.declared.declaration;
  const SourceId source = state.session.info(function).source;
  const Document* document = state.documents.of_source(source);
  if (!document) return "";
  const Range range = state.session.range_of(function);
  for (const KeptResult& kept : state.evaluations.results(document->path, state.session.text(source)))
    if (kept.part.range == range && !kept.part.note.empty())
      return fmt::format("Measured{}: {}", kept.is_stale ? ", with an earlier text" : "", kept.part.note);
  return "";
}

/// With products as Markdown keeps them: it takes the two signs of `2*n + 3*m` for an emphasis, and knows none between
/// blanks.
std::string as_markdown(std::string_view formulas) {
  std::string text;
  for (const char c : formulas) c == '*' ? text += " * " : text += c;
  return text;
}

/// The cost of a call of the named function or operator, as Markdown; "" for other names.
std::string cost_of_call(ServerState& state, const Cursor& at) {
  const auto cost = ide::call_cost(state.session, at.source, at.offset);
  std::optional<std::string> text;
  if (auto* known = std::get_if<ide::CallCost>(&cost)) text = to_text(*known, state.evaluations.peaks());
  if (auto* later = std::get_if<ide::CostToCome>(&cost)) {
    state.costs_to_come.push_back(*later);
    text = "is being worked out: ask again";
  }
  std::string measured = last_time(state, at);
  if (!text) return measured;
  return fmt::format("Cost: {}{}{}", as_markdown(*text), measured.empty() ? "" : "\n\n", measured);
}

/// Links to where the dims of a type are declared, as Markdown.
std::string links_to_dims(ServerState& state, const std::vector<ide::Hover::NamedDim>& dims) {
  std::string text;
  for (const auto& [name, declared] : dims) {
    const Positions positions(state.session.text(declared.source), state.encoding);
    const uint32_t line = positions.position(declared.range.begin).line + 1;
    text += fmt::format("{}[`{}`]({}#L{})", text.empty() ? "\n\n" : ", ", name,
                        state.documents.uri_of(declared.source), line);
  }
  return text;
}

}  // namespace

/// Markdown and the range that it describes, or null.
template <class Json>
Json hover(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  std::optional<ide::Hover> found = ide::hover(state.session, at->source, at->offset);
  if (!found) return nullptr;
  Json contents = {{"kind", "markdown"},
                   {"value", to_markdown(*found, cost_of_call(state, *at)) +
                                 links_to_dims(state, found->dims) + last_values(state, *at)}};
  return {{"contents", contents}, {"range", to_json<Json>(at->positions.range(found->range))}};
}

template nlohmann::json hover(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
