#include "frontend/parse/body_chunks.h"

#include <algorithm>
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

  /// Reads on from the end of a statement, until `stop` holds of the end of one. False if it holds of none,
  /// or if brackets or other problems there ask for the whole.
  bool read_on(uint32_t from, const std::function<bool(uint32_t)>& stop) {
    tokens_.jump(from);
    for (Token token = tokens_.next(); token.kind != TokenKind::End; token = tokens_.next()) {
      if (token.kind == TokenKind::Open) open_.push_back(word(token)[0]);
      if (token.kind == TokenKind::Close && close(word(token)[0])) return false;
      if (unbalanced || !problems_.empty()) return false;
      if (token.kind == TokenKind::Semicolon && open_.empty() && stop(token.range.end)) return true;
    }
    return false;
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

/// Cuts after statements that their own text chooses, so that an edit moves few cuts.
class Cutter {
 public:
  Cutter(std::string_view text, uint32_t begin, std::vector<Range>& chunks)
      : text_(text), chunks_(chunks), begin_(begin), statement_(begin) {}

  /// The end of the next statement; true if a chunk ends there.
  bool add(uint32_t end) {
    const size_t hash = std::hash<std::string_view>()(text_.substr(statement_, end - statement_));
    statement_ = end;
    ++count_;
    if (count_ < kMost && (count_ < kLeast || hash % kMean != 0)) return false;
    chunks_.push_back({begin_, end});
    begin_ = end;
    count_ = 0;
    return true;
  }
  /// Of the chunk that is open.
  uint32_t begin() const { return begin_; }

 private:
  std::string_view text_;
  std::vector<Range>& chunks_;
  uint32_t begin_, statement_;
  size_t count_ = 0;  ///< of the open chunk's statements
};

}  // namespace

BodyChunks body_chunks(std::string_view definition) {
  // Statements have at least three characters.
  if (definition.size() < 4 * kWorthCutting) return {};
  std::optional<Body> body(std::in_place, definition, false);
  bool readable = body->read();
  const bool balanced = !body->unbalanced;
  if (readable && !balanced) {
    body.emplace(definition, true);
    readable = body->read();
  }
  if (!readable || body->statement_ends.size() < kWorthCutting) return {};
  BodyChunks chunks{{}, balanced};
  Cutter cutter(definition, body->begin, chunks.ranges);
  for (uint32_t end : body->statement_ends) cutter.add(end);
  if (cutter.begin() < body->end || chunks.ranges.empty())
    chunks.ranges.push_back({cutter.begin(), body->end});
  return chunks;
}

BodyChunks body_chunks(std::string_view definition, const BodyChunks& before, TextEdit edit) {
  const std::vector<Range>& old = before.ranges;
  // The rest has too many statements for a body that is not cut.
  constexpr size_t kMany = kWorthCutting / kLeast + 2;
  const auto touched = std::partition_point(old.begin(), old.end(),
                                            [&](const Range& chunk) { return chunk.begin <= edit.begin; });
  if (!before.balanced || touched == old.begin()) return body_chunks(definition);
  BodyChunks chunks{{old.begin(), touched - 1}, true};
  Cutter cutter(definition, (touched - 1)->begin, chunks.ranges);
  // The last one ends with the body, and need not have been cut.
  auto same = touched - 1;
  const auto is_known = [&](uint32_t end) {
    if (!cutter.add(end) || end < edit.new_end) return false;
    const uint32_t was = end - edit.new_end + edit.old_end;
    same = std::lower_bound(same, old.end(), was,
                            [](const Range& chunk, uint32_t at) { return chunk.end < at; });
    return same != old.end() && same + 1 != old.end() && same->end == was;
  };
  if (!Body(definition, false).read_on(cutter.begin(), is_known)) return body_chunks(definition);
  for (++same; same != old.end(); ++same)
    chunks.ranges.push_back(
        {same->begin - edit.old_end + edit.new_end, same->end - edit.old_end + edit.new_end});
  return chunks.ranges.size() < kMany ? body_chunks(definition) : chunks;
}

}  // namespace quern
