// textDocument/semanticTokens: the kind of each token of a text, for highlighting.

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ide/tokens.h"
#include "ide/window.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

using ide::TokenKind;

/// The index in the legend of methods.def; nothing for kinds that are not highlighted.
std::optional<uint32_t> legend_index(TokenKind kind) {
  switch (kind) {
    case TokenKind::Comment: return 0;
    case TokenKind::Keyword: return 1;
    case TokenKind::Number: return 2;
    case TokenKind::String: return 3;
    case TokenKind::Variable:
    case TokenKind::Index: return 4;
    case TokenKind::Definition: return 5;
    case TokenKind::Operator: return 6;
    case TokenKind::Constructor: return 7;
    case TokenKind::Type: return 8;
    case TokenKind::Field: return 9;
    case TokenKind::Attribute: return 10;
    case TokenKind::TypeParameter: return 11;
    case TokenKind::Static: return 12;
    case TokenKind::Module: return 13;
    case TokenKind::Symbol:
    case TokenKind::Bracket:
    case TokenKind::Unknown: return std::nullopt;
  }
  return std::nullopt;
}

constexpr size_t kInts = 5;  // of one token

/// Encodes tokens for the protocol: each as the lines and characters from the one before, its length, its index in the
/// legend, and no modifiers. No token spans several lines.
class TokenEncoder {
 public:
  TokenEncoder(std::string_view text, const Positions& positions) : text_(text), positions_(positions) {}

  void add(const ide::Token& token) {
    const auto kind = legend_index(token.kind);
    if (!kind) return;
    for (uint32_t begin = token.range.begin; begin < token.range.end;) {
      const size_t line_end = std::min<size_t>(text_.find_first_of("\r\n", begin), token.range.end);
      add_part({begin, static_cast<uint32_t>(line_end)}, *kind);
      begin =
          static_cast<uint32_t>(std::min<size_t>(text_.find_first_not_of("\r\n", line_end), token.range.end));
    }
  }
  std::vector<uint32_t> take() { return std::move(data_); }
  Position last() const { return last_; }

 private:
  void add_part(Range part, uint32_t kind) {
    const PositionRange at = positions_.range(part);
    if (at.start == at.end) return;
    const bool same_line = at.start.line == last_.line;
    data_.insert(data_.end(),
                 {at.start.line - last_.line, at.start.character - (same_line ? last_.character : 0),
                  at.end.character - at.start.character, kind, 0});
    last_ = at.start;
  }

  std::string_view text_;
  const Positions& positions_;
  Position last_;
  std::vector<uint32_t> data_;
};

/// A hash of what determines the tokens of a part besides its text: the names of the source and of what it imports.
size_t names_of(Session& session, SourceId source) {
  size_t hash = session.has_slash_names(source) ? 1 : 0;
  const auto add = [&](size_t value) { hash = hash * 0x9E3779B97F4A7C15ULL + value; };
  std::vector<SourceId> all = session.imported(source);
  all.push_back(source);
  for (SourceId each : all)
    for (DeclarationId id : session.declarations(each)) {
      const DeclarationInfo& info = session.info(id);
      if (info.kind == PieceKind::Statement || info.kind == PieceKind::Test) continue;
      add(static_cast<size_t>(info.kind));
      // The text of a type has its constructors, that of an import its alias.
      const bool has_more = info.kind == PieceKind::Type || info.kind == PieceKind::Import;
      add(std::hash<std::string_view>()(has_more ? session.text_of(id) : std::string_view(info.name)));
    }
  return hash;
}

/// The tokens of a part of a text, as if it were the whole text.
EncodedPart encoded_part(Session& session, SourceId source, Range window, PositionEncoding encoding) {
  const std::string_view text =
      std::string_view(session.text(source)).substr(window.begin, window.end - window.begin);
  const Positions positions(text, encoding);
  TokenEncoder encoder(text, positions);
  for (ide::Token token : ide::tokens(session, source, window)) {
    token.range = {token.range.begin - window.begin, token.range.end - window.begin};
    encoder.add(token);
  }
  return {encoder.last(), positions.position(static_cast<uint32_t>(text.size())), encoder.take()};
}

/// `to` after a text that ends at `from`.
Position moved(Position to, Position from) {
  return {from.line + to.line, to.line == 0 ? from.character + to.character : to.character};
}

/// The tokens of a source. Parts whose text and names are unchanged since the last time are cached.
std::vector<uint32_t> encoded_tokens(ServerState& state, const Asked& asked) {
  KnownTokens& known = state.documents.find(asked.document->uri)->known_tokens;
  const size_t names = names_of(state.session, asked.source);
  KnownTokens::Parts before;
  if (known.names == names) before.swap(known.parts);
  known = {names, {}};
  const std::string_view text = state.session.text(asked.source);
  std::vector<uint32_t> data;
  data.reserve(asked.document->tokens.data.size());
  Position begin, last;
  for (const Range& window : ide::windows_of(state.session, asked.source)) {
    const std::string_view part = text.substr(window.begin, window.end - window.begin);
    auto found = known.parts.find(part);
    if (found == known.parts.end()) {
      if (const auto old = before.find(part); old != before.end())
        found = known.parts.insert(before.extract(old)).position;
      else
        found = known.parts.emplace(part, encoded_part(state.session, asked.source, window, state.encoding))
                    .first;
    }
    const EncodedPart& encoded = found->second;
    if (!encoded.data.empty()) {
      const Position first = moved({encoded.data[0], encoded.data[1]}, begin);
      const size_t at = data.size();
      data.insert(data.end(), encoded.data.begin(), encoded.data.end());
      data[at] = first.line - last.line;
      data[at + 1] = first.character - (first.line == last.line ? last.character : 0);
      last = moved(encoded.last, begin);
    }
    begin = moved(encoded.end, begin);
  }
  return data;
}

/// The tokens that touch a range.
std::vector<uint32_t> encoded_tokens(ServerState& state, const Asked& asked, Range within) {
  TokenEncoder encoder(state.session.text(asked.source), asked.positions);
  for (const Range& window : ide::windows_of(state.session, asked.source)) {
    if (window.begin >= within.end || window.end <= within.begin) continue;
    for (const ide::Token& token : ide::tokens(state.session, asked.source, window))
      if (token.range.begin < within.end && within.begin < token.range.end) encoder.add(token);
  }
  return encoder.take();
}

/// Keeps the tokens sent to a client, under a new result id.
const SentTokens& remember_tokens(ServerState& state, const Asked& asked, std::vector<uint32_t> data) {
  SentTokens& sent = state.documents.find(asked.document->uri)->tokens;
  sent = {sent.result + 1, std::move(data)};
  return sent;
}

template <class Json>
Json full_answer(const SentTokens& sent) {
  return {{"resultId", std::to_string(sent.result)}, {"data", sent.data}};
}

}  // namespace

/// The tokens of the whole text.
template <class Json>
Json semantic_tokens(ServerState& state, const Json& params) {
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  return full_answer<Json>(remember_tokens(state, *asked, encoded_tokens(state, *asked)));
}

/// One edit from the tokens that were sent last, or all tokens if the client has others.
template <class Json>
Json semantic_tokens_delta(ServerState& state, const Json& params) {
  const auto& previous = params.at("previousResultId").template get_ref<const std::string&>();
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  std::vector<uint32_t> data = encoded_tokens(state, *asked);
  SentTokens& now = state.documents.find(asked->document->uri)->tokens;
  const SentTokens before = std::exchange(now, SentTokens{now.result + 1, std::move(data)});
  if (before.result == 0 || previous != std::to_string(before.result)) return full_answer<Json>(now);
  const size_t shorter = std::min(before.data.size(), now.data.size());
  auto aligned = [](std::ptrdiff_t same) { return static_cast<size_t>(same) / kInts * kInts; };
  const auto differs = std::mismatch(
      before.data.begin(), before.data.begin() + static_cast<std::ptrdiff_t>(shorter), now.data.begin());
  const size_t begin = aligned(differs.first - before.data.begin());
  const auto ends =
      std::mismatch(before.data.rbegin(), before.data.rbegin() + static_cast<std::ptrdiff_t>(shorter - begin),
                    now.data.rbegin());
  const size_t end = aligned(ends.first - before.data.rbegin());
  Json edits = Json::array();
  const size_t removed = before.data.size() - end - begin, added = now.data.size() - end - begin;
  if (removed + added > 0) {
    const auto first = now.data.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<uint32_t> inserted(first, first + static_cast<std::ptrdiff_t>(added));
    edits.push_back({{"start", begin}, {"deleteCount", removed}, {"data", inserted}});
  }
  return {{"resultId", std::to_string(now.result)}, {"edits", std::move(edits)}};
}

/// The tokens that touch a range.
template <class Json>
Json semantic_tokens_range(ServerState& state, const Json& params) {
  const Json& range = params.at("range");
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  return {{"data", encoded_tokens(state, *asked, asked_range(*asked, range))}};
}

template nlohmann::json semantic_tokens(ServerState&, const nlohmann::json&);
template nlohmann::json semantic_tokens_delta(ServerState&, const nlohmann::json&);
template nlohmann::json semantic_tokens_range(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
