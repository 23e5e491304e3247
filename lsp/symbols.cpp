// textDocument/documentSymbol and workspace/symbol.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ide/symbols.h"
#include "lsp/cursor.h"
#include "lsp/locations.h"
#include "lsp/methods.h"
#include "lsp/symbol_kinds.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

json outline(const std::vector<ide::Symbol>& symbols, const Positions& positions) {
  json list = json::array();
  for (const ide::Symbol& s : symbols) {
    json item = {{"name", s.name},
                 {"kind", protocol_kind(s.kind)},
                 {"range", to_json<json>(positions.range(s.range))},
                 {"selectionRange", to_json<json>(positions.range(s.name_range))}};
    if (!s.detail.empty()) item["detail"] = s.detail;
    if (!s.children.empty()) item["children"] = outline(s.children, positions);
    list.push_back(std::move(item));
  }
  return list;
}

/// The symbols of all files that match a query, the best first.
class Search {
 public:
  static constexpr size_t kMost = 256;

  Search(ServerState& state, std::string_view query) : state_(state), query_(query) {}

  void add(const std::string& uri, std::string_view file, const std::string& text, bool is_own) {
    const std::vector<ide::FoundSymbol> symbols = ide::find_symbols(text, query_);
    if (symbols.empty()) return;
    const Positions positions(text, state_.encoding);
    for (const ide::FoundSymbol& s : symbols) {
      json location = {{"uri", uri}, {"range", to_json<json>(positions.range(s.range))}};
      json item = {{"name", s.name},
                   {"kind", protocol_kind(s.kind)},
                   {"location", std::move(location)},
                   {"containerName", s.container.empty() ? std::string(file) : s.container}};
      found_.push_back({{s.match, !is_own, s.name.size(), s.name, uri}, std::move(item)});
    }
  }

  json take() {
    std::ranges::stable_sort(found_, {}, &Found::order);
    json list = json::array();
    for (size_t i = 0; i < std::min(kMost, found_.size()); ++i) list.push_back(std::move(found_[i].item));
    return list;
  }

 private:
  struct Found {
    std::tuple<ide::NameMatch, bool, size_t, std::string, std::string> order;
    json item;
  };
  ServerState& state_;
  std::string_view query_;
  std::vector<Found> found_;
};

std::string file_name(std::string_view path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

/// Empty for an unknown document.
template <class Json>
Json document_symbol(ServerState& state, const Json& params) {
  const auto source = asked_source(state, params);
  if (!source) return Json::array();
  const Positions positions(state.session.text(*source), state.encoding);
  return outline(ide::symbols(state.session, *source), positions);
}

template <class Json>
Json workspace_symbol(ServerState& state, const Json& params) {
  const auto& query = params.at("query").template get_ref<const std::string&>();
  if (!state.client.watches_files) state.documents.reread_files();
  Search search(state, query);
  std::set<std::string> uris;
  for (const SourceId source : state.session.sources()) {
    const std::string uri = state.documents.uri_of(source);
    uris.insert(uri);
    if (Locations(state).is_known(source))
      search.add(uri, file_name(state.session.path(source)), state.session.text(source), true);
  }
  state.workspace.each_file([&](const std::string& path, const std::string& text) {
    const std::string uri = uri_of_path(path);
    if (!uris.contains(uri)) search.add(uri, file_name(path), text, true);
  });
  // The library only if there is a query.
  if (!query.empty())
    for (const SourceId source : state.session.library())
      search.add(state.documents.uri_of(source), file_name(state.session.path(source)),
                 state.session.text(source), false);
  return search.take();
}

template json document_symbol(ServerState&, const json&);
template json workspace_symbol(ServerState&, const json&);

}  // namespace quern::lsp
