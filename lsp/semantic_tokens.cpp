// textDocument/semanticTokens: what each token of a text is, for colours.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ide/tokens.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

using ide::TokenKind;

/// Its place in the legend of methods.def; nothing for what has no colour of its own.
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

/// Tokens in the protocol's form: each as the lines and characters from the one before, its length, its place
/// in the legend, and no modifiers. None goes over the end of a line.
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

std::vector<uint32_t> encoded_tokens(ServerState& state, const Asked& asked,
                                     std::optional<Range> within = std::nullopt) {
  TokenEncoder encoder(state.session.text(asked.source), asked.positions);
  for (const ide::Token& token : ide::tokens(state.session, asked.source))
    if (!within || (token.range.begin < within->end && within->begin < token.range.end)) encoder.add(token);
  return encoder.take();
}

/// Remembers what a client is told, under a new name.
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

/// Those of the whole text.
template <class Json>
Json semantic_tokens(ServerState& state, const Json& params) {
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  return full_answer<Json>(remember_tokens(state, *asked, encoded_tokens(state, *asked)));
}

/// The one edit that makes them of those that were sent last; all of them where the client has others.
template <class Json>
Json semantic_tokens_delta(ServerState& state, const Json& params) {
  const auto& previous = params.at("previousResultId").template get_ref<const std::string&>();
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  const SentTokens before = asked->document->tokens;
  const SentTokens& now = remember_tokens(state, *asked, encoded_tokens(state, *asked));
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
    const std::vector<uint32_t> data(first, first + static_cast<std::ptrdiff_t>(added));
    edits.push_back({{"start", begin}, {"deleteCount", removed}, {"data", data}});
  }
  return {{"resultId", std::to_string(now.result)}, {"edits", std::move(edits)}};
}

/// Those that touch a range.
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
