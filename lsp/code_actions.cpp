// textDocument/codeAction: the fixes of diagnostics, and changes that keep what a text means.

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
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

constexpr std::string_view kQuickFix = "quickfix", kRewrite = "refactor.rewrite";

template <class Json>
Json workspace_edit(const Asked& asked, const std::vector<std::pair<Range, std::string>>& edits) {
  Json list = Json::array();
  for (const auto& [range, text] : edits)
    list.push_back({{"range", to_json<Json>(asked.positions.range(range))}, {"newText", text}});
  return {{"changes", {{asked.document->uri, std::move(list)}}}};
}

/// Whether a client that names the kinds that it wants, if it does, wants this one or some of its kind.
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
                         {"kind", kQuickFix},
                         {"diagnostics", Json::array({to_json<Json>(state, *asked.document, diagnostic)})},
                         {"isPreferred", diagnostic.fixes.size() == 1},
                         {"edit", workspace_edit<Json>(asked, fix.edits)}});
  }
}

}  // namespace

/// Those of the diagnostics that a range touches, then what may be done at its begin. Throws Stopped where
/// that was given up.
template <class Json>
Json code_actions(ServerState& state, const Json& params) {
  const Json& context = params.at("context");
  const PositionRange range = to_range(params.at("range"));
  const std::optional<Asked> asked = asked_document(state, params);
  Json actions = Json::array();
  if (!asked) return actions;
  const uint32_t begin = asked->positions.offset(range.start);
  const Range selected{begin, std::max(begin, asked->positions.offset(range.end))};
  if (is_wanted(context, kQuickFix)) add_fixes(state, *asked, selected, actions);
  if (!is_wanted(context, kRewrite)) return actions;
  ide::KnownHints& known = state.documents.find(asked->document->uri)->hints;
  const auto refactorings = ide::refactorings(state.session, asked->source, selected, known);
  // The text was edited and has come back: positions are in the present one.
  const std::optional<Asked> now = asked_document(state, params);
  for (const ide::Refactoring& found : refactorings)
    if (now)
      actions.push_back(
          {{"title", found.title}, {"kind", kRewrite}, {"edit", workspace_edit<Json>(*now, found.edits)}});
  return actions;
}

template nlohmann::json code_actions(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
