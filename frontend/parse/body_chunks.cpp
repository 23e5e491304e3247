#include "frontend/parse/body_chunks.h"

#include <functional>
#include <optional>

#include "frontend/parse/scanner_tokens.h"

namespace quern {

using namespace scanner_detail;

namespace {

// Numbers of statements: shorter bodies are not split; a chunk has about kLeast + kMean statements.
constexpr size_t kWorthCutting = 64, kLeast = 8, kMean = 16, kMost = 64;

// Finds the ends of a body's statements, and of the body.
class Body {
 public:
  /// `recovers`: a `;` closes preceding `(` and `[`. Right if some are never closed, wrong for `(a; b)`.
  Body(std::string_view text, bool recovers) : text_(text), tokens_(text, problems_), recovers_(recovers) {}

  /// False if this is not a definition with one body.
  bool read() {
    Token token = tokens_.next();
    if (word(token) != "def") return false;
    token = tokens_.next();
    if (!word(token).starts_with("@")) return false;
    while (token.kind != TokenKind::End) {
      token = tokens_.next();
      if (token.kind == TokenKind::Open) {
        if (open_.empty() && word(token) == "{") break;
        open_.push_back(word(token)[0]);
      }
      if (token.kind == TokenKind::Close && !open_.empty()) open_.pop_back();
    }
    if (token.kind == TokenKind::End) return false;
    begin = token.range.end;
    end = static_cast<uint32_t>(text_.size());
    for (token = tokens_.next(); token.kind != TokenKind::End; token = tokens_.next()) {
      if (token.kind == TokenKind::Open) open_.push_back(word(token)[0]);
      if (token.kind == TokenKind::Close && close(word(token)[0])) {
        end = token.range.begin;
        return tokens_.next().kind == TokenKind::End && problems_.empty();
      }
      if (token.kind == TokenKind::Semicolon) semicolon(token.range.end);
    }
    unbalanced = true;
    return problems_.empty();
  }

  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> statement_ends;  ///< after each `;`
  bool unbalanced = false;

 private:
  std::string_view word(const Token& t) const {
    return text_.substr(t.range.begin, t.range.end - t.range.begin);
  }

  // True if this closes the body.
  bool close(char c) {
    if (c != '}') {
      if (!open_.empty() && open_.back() != '{') open_.pop_back();
      return false;
    }
    close_brackets();
    if (open_.empty()) return true;
    open_.pop_back();
    return false;
  }
  void close_brackets() {
    for (; !open_.empty() && open_.back() != '{'; open_.pop_back()) unbalanced = true;
  }
  void semicolon(uint32_t at) {
    if (recovers_) close_brackets();
    if (open_.empty()) statement_ends.push_back(at);
  }

  std::string_view text_;
  std::vector<SyntaxProblem> problems_;
  Tokens tokens_;
  std::vector<char> open_;  ///< open brackets inside the body
  bool recovers_;
};

}  // namespace

std::vector<Range> body_chunks(std::string_view definition) {
  // Statements have at least three characters.
  if (definition.size() < 4 * kWorthCutting) return {};
  std::optional<Body> body(std::in_place, definition, false);
  bool readable = body->read();
  if (readable && body->unbalanced) {
    body.emplace(definition, true);
    readable = body->read();
  }
  if (!readable || body->statement_ends.size() < kWorthCutting) return {};
  std::vector<Range> chunks;
  uint32_t begin = body->begin, statement = body->begin;
  size_t count = 0;
  for (uint32_t end : body->statement_ends) {
    size_t hash = std::hash<std::string_view>()(definition.substr(statement, end - statement));
    statement = end;
    ++count;
    bool cut = count >= kMost || (count >= kLeast && hash % kMean == 0);
    if (!cut) continue;
    chunks.push_back({begin, end});
    begin = end;
    count = 0;
  }
  if (begin < body->end || chunks.empty()) chunks.push_back({begin, body->end});
  return chunks;
}

}  // namespace quern
