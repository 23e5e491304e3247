// textDocument/completion and completionItem/resolve.

#include "ide/completion.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

using ide::CompletionItem;
using ide::CompletionKind;

/// The protocol's CompletionItemKind.
int protocol_kind(CompletionKind kind) {
  switch (kind) {
    case CompletionKind::Variable:
    case CompletionKind::Index: return 6;  // Variable
    case CompletionKind::Definition:
    case CompletionKind::Static:
    case CompletionKind::Operator:
    case CompletionKind::Function: return 3;  // Function
    case CompletionKind::Constructor: return 4;
    case CompletionKind::Keyword: return 14;
    case CompletionKind::Type: return 22;  // Struct
    case CompletionKind::TypeParameter: return 25;
    case CompletionKind::Field: return 5;
    case CompletionKind::Attribute: return 10;  // Property
    case CompletionKind::Module: return 9;
    case CompletionKind::Value: return 12;
    case CompletionKind::File: return 17;
    case CompletionKind::Folder: return 19;
  }
  return 1;  // Text
}

struct KeywordSnippet {
  std::string_view word, snippet;
};
/// The one source of snippets for all editors: a second one beside it would offer each word twice.
constexpr KeywordSnippet kKeywordSnippets[] = {
    {"let", "let %${1:name} = $0;"},
    {"fn", "fn ($1) { $0 }"},
    {"if", "if ($1) { $2 } else { $0 }"},
    {"match", "match ($1) {\n  $0\n}"},
    {"def", "def @${1:name}($2) {\n  $0\n}"},
    {"op", "op ${1:name}($2) -> $3 {\n  $0\n}"},
    {"type", "type ${1:Name} { ${1:Name}(${2:field}: $3) }$0"},
    {"test", "test \"$1\" {\n  $0\n}"},
    {"import", "import \"$1\" as ${2:name}$0"},
    {"schedule", "schedule { $0 }"},
};

/// The snippet of an item for a client that supports snippets; nothing if it is only text.
std::optional<std::string> snippet_of(const CompletionItem& item, std::string_view text_after) {
  const bool is_called = text_after.starts_with('(');
  if (item.kind == CompletionKind::Operator || item.kind == CompletionKind::Function)
    return is_called ? std::nullopt : std::optional(item.inserted + "($0)");
  if (item.kind != CompletionKind::Keyword || is_called) return std::nullopt;
  for (const KeywordSnippet& known : kKeywordSnippets)
    if (known.word == item.label) return std::string(known.snippet);
  return std::nullopt;
}

}  // namespace

/// A CompletionList ordered by `sortText`. The documentation of an item is left to resolve.
template <class Json>
Json completion(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  const ide::CompletionList list = ide::complete(state.session, at->source, at->offset);
  const std::string_view after = std::string_view(state.session.text(at->source)).substr(list.replaced.end);
  const Json range = to_json<Json>(at->positions.range(list.replaced));
  Json items = Json::array();
  for (const CompletionItem& item : list.items) {
    const auto snippet = state.client.snippets ? snippet_of(item, after) : std::nullopt;
    Json shown = {
        {"label", item.label},
        {"kind", protocol_kind(item.kind)},
        {"sortText", fmt::format("{:04}", items.size())},
        {"textEdit", {{"range", range}, {"newText", snippet.value_or(item.inserted)}}},
        {"data", {{"uri", params.at("textDocument").at("uri")}, {"kind", static_cast<int>(item.kind)}}}};
    if (snippet) shown["insertTextFormat"] = 2;
    if (!item.detail.empty()) shown["detail"] = item.detail;
    items.push_back(std::move(shown));
  }
  return {{"isIncomplete", list.is_incomplete}, {"items", std::move(items)}};
}

/// The item with its documentation; unchanged if its document has been closed.
template <class Json>
Json resolve_completion(ServerState& state, const Json& item) {
  const Json& data = item.at("data");
  const Document* document = state.documents.find(data.at("uri").template get_ref<const std::string&>());
  const auto kind = data.at("kind").template get<int>();
  CompletionItem asked;
  asked.label = item.at("label").template get<std::string>();
  asked.kind = static_cast<CompletionKind>(kind);
  if (!document || kind < 0 || asked.kind > CompletionKind::Folder) return item;
  const std::string documentation =
      ide::documentation_of(state.session, state.session.module_of(document->source), asked);
  Json resolved = item;
  if (!documentation.empty()) resolved["documentation"] = {{"kind", "markdown"}, {"value", documentation}};
  return resolved;
}

template nlohmann::json completion(ServerState&, const nlohmann::json&);
template nlohmann::json resolve_completion(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
