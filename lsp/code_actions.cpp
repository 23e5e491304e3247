// textDocument/codeAction and its resolve: the fixes of diagnostics, and refactorings.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ide/refactorings.h"
#include "lsp/cursor.h"
#include "lsp/diagnostics.h"
#include "lsp/evaluation/transcripts.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

using ide::RefactoringKind;

/// The protocol's CodeActionKind.
std::string_view protocol_kind(RefactoringKind kind) {
  switch (kind) {
    case RefactoringKind::QuickFix: return "quickfix";
    case RefactoringKind::Extract: return "refactor.extract";
    case RefactoringKind::Inline: return "refactor.inline";
    case RefactoringKind::Rewrite: return "refactor.rewrite";
    case RefactoringKind::Source: return "source";
  }
  return "";
}

template <class Json>
Json workspace_edit(const Asked& asked, const std::vector<std::pair<Range, std::string>>& edits) {
  Json list = Json::array();
  for (const auto& [range, text] : edits)
    list.push_back({{"range", to_json<Json>(asked.positions.range(range))}, {"newText", text}});
  return {{"changes", {{asked.document->uri, std::move(list)}}}};
}

/// Whether the client wants this kind or some of its subkinds; it wants all kinds if it names none.
template <class Json>
bool is_wanted(const Json& context, std::string_view kind) {
  if (!context.contains("only")) return true;
  for (const Json& only : context.at("only")) {
    const auto& wanted = only.template get_ref<const std::string&>();
    const bool of_it =
        kind.starts_with(wanted) && (kind.size() == wanted.size() || kind[wanted.size()] == '.');
    if (wanted.empty() || of_it || wanted.starts_with(std::string(kind) + ".")) return true;
  }
  return false;
}

template <class Json>
void add_fixes(ServerState& state, const Asked& asked, Range selected, Json& actions) {
  const auto checked = state.session.check(asked.source, state.stop);
  if (std::holds_alternative<Cancelled>(checked)) throw Stopped{};
  for (const LocatedDiagnostic& diagnostic : std::get<Checked>(checked).diagnostics) {
    const Range at = diagnostic.range;
    if (diagnostic.file != asked.document->path || at.begin > selected.end || selected.begin > at.end)
      continue;
    for (const LocatedFix& fix : diagnostic.fixes)
      actions.push_back({{"title", fix.title},
                         {"kind", protocol_kind(RefactoringKind::QuickFix)},
                         {"diagnostics", Json::array({to_json<Json>(state, *asked.document, diagnostic)})},
                         {"isPreferred", diagnostic.fixes.size() == 1},
                         {"edit", workspace_edit<Json>(asked, fix.edits)}});
  }
}

ide::RefactoringContext refactoring_context(ServerState& state, Document& document) {
  return {document.hints, [&state](const auto& visit) { state.workspace.each_file(visit); }};
}

}  // namespace

/// The fixes of the diagnostics that a range touches, then the refactorings that are possible there. A client that can
/// resolve edits gets them later. Throws Stopped if that was cancelled.
template <class Json>
Json code_actions(ServerState& state, const Json& params) {
  const Json& context = params.at("context");
  if (const Document* transcript = transcript_of(state, params.at("textDocument").at("uri")))
    return is_wanted(context, "quickfix") ? transcript_actions(state, *transcript, params.at("range"))
                                          : Json::array();
  const std::optional<Asked> asked = asked_document(state, params);
  Json actions = Json::array();
  if (!asked) return actions;
  const Range range = asked_range(*asked, params.at("range"));
  // Actions for a whole file are only for clients that request them.
  auto wanted = [&](RefactoringKind kind) {
    const bool is_asked = kind != RefactoringKind::Source || context.contains("only");
    return is_asked && is_wanted(context, protocol_kind(kind));
  };
  if (wanted(RefactoringKind::QuickFix)) add_fixes(state, *asked, range, actions);
  const ide::SelectedRange selected{asked->source, range};
  const auto in = refactoring_context(state, *state.documents.find(asked->document->uri));
  for (const ide::Refactoring& found : ide::refactorings(state.session, selected, in, wanted)) {
    Json action = {{"title", found.title}, {"kind", protocol_kind(found.kind)}};
    if (state.client.resolves_edits) {
      action["data"] = {{"uri", asked->document->uri},
                        {"version", asked->document->version},
                        {"begin", range.begin},
                        {"end", range.end},
                        {"name", found.name}};
    } else {
      const auto edits = ide::edits_of(state.session, selected, in, found.name, found.title);
      if (!edits) continue;
      // A trial replaced the text in between: recompute the positions.
      action["edit"] = workspace_edit<Json>(*asked_document(state, params), *edits);
    }
    actions.push_back(std::move(action));
  }
  return actions;
}

/// The action with its edit. Throws RequestFailed if the text has changed since, or if the trial shows that the program
/// would change.
template <class Json>
Json resolve_code_action(ServerState& state, const Json& action) {
  if (!action.contains("data")) return action;
  const Json& data = action.at("data");
  Document* document = state.documents.find(data.at("uri").template get_ref<const std::string&>());
  if (!document || !document->in_step || document->version != data.at("version").template get<int64_t>())
    throw RequestFailed("the text has changed since this was offered");
  const auto title = action.at("title").template get<std::string>();
  const ide::SelectedRange selected{
      document->source, {data.at("begin").template get<uint32_t>(), data.at("end").template get<uint32_t>()}};
  const auto edits = ide::edits_of(state.session, selected, refactoring_context(state, *document),
                                   data.at("name").template get<std::string>(), title);
  if (!edits) throw RequestFailed(edits.error().message);
  Json resolved = action;
  const Asked asked{document, document->source,
                    Positions(state.session.text(document->source), state.encoding)};
  resolved["edit"] = workspace_edit<Json>(asked, *edits);
  return resolved;
}

template nlohmann::json code_actions(ServerState&, const nlohmann::json&);
template nlohmann::json resolve_code_action(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
