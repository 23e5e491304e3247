#pragma once
// The scanner's tokens, only as fine as splitting a text needs. Internal to frontend/parse/scanner.cpp,
// splitter.cpp and body_chunks.cpp.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/parse/scanner.h"
#include "frontend/text/lexeme.h"

namespace quern::scanner_detail {

enum class TokenKind : uint8_t { Word, String, Open, Close, Semicolon, Other, End };

struct Token {
  TokenKind kind;
  Range range;
  bool at_line_start;  ///< column 0
};

enum CharClass : uint8_t { kBlank = 1, kWordStart = 2, kWord = 4 };
inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\n', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = kBlank;
  for (size_t c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kWordStart | kWord;
  for (size_t c = '0'; c <= '9'; ++c) classes[c] = kWord;
  classes['_'] = kWordStart | kWord;
  classes['@'] = kWordStart;
  classes['.'] = kWord;
  return classes;
}();
inline bool is_blank(char c) { return kCharClasses[static_cast<unsigned char>(c)] & kBlank; }
inline bool is_word_start(char c) { return kCharClasses[static_cast<unsigned char>(c)] & kWordStart; }
inline bool is_word(char c) { return kCharClasses[static_cast<unsigned char>(c)] & kWord; }

// Tokenizes as coarsely as splitting allows. Keeps doc comments, skips other comments.
class Tokens {
 public:
  Tokens(std::string_view text, std::vector<SyntaxProblem>& problems) : text_(text), problems_(problems) {}

  Token next() {
    doc_.clear();
    skip_blanks();
    if (pos_ >= text_.size()) return {TokenKind::End, at(pos_), false};
    uint32_t begin = pos_;
    bool line_start = begin == 0 || text_[begin - 1] == '\n' || text_[begin - 1] == '\r';
    char c = text_[pos_];
    auto token = [&](TokenKind kind) { return Token{kind, {begin, pos_}, line_start}; };
    if (c == '"') {
      string();
      return token(TokenKind::String);
    }
    if (is_word_start(c)) {
      ++pos_;
      while (pos_ < text_.size() && is_word(text_[pos_])) ++pos_;
      return token(TokenKind::Word);
    }
    ++pos_;
    if (c == '(' || c == '[' || c == '{') return token(TokenKind::Open);
    if (c == ')' || c == ']' || c == '}') return token(TokenKind::Close);
    return token(c == ';' ? TokenKind::Semicolon : TokenKind::Other);
  }

  /// The `///` lines right before the last token.
  std::string take_doc() { return std::exchange(doc_, {}); }
  void jump(uint32_t pos) { pos_ = pos; }
  uint32_t pos() const { return pos_; }
  bool unterminated() const { return unterminated_; }

 private:
  static Range at(uint32_t p) { return {p, p}; }
  bool starts(std::string_view prefix) const { return text_.substr(pos_).starts_with(prefix); }

  void skip_blanks() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (is_blank(c)) {
        ++pos_;
      } else if (c != '/' && c != kByteOrderMark.front()) {
        return;
      } else if (starts(kByteOrderMark)) {
        byte_order_mark();
      } else if (starts("//")) {
        line_comment();
      } else if (starts("/*")) {
        block_comment();
      } else {
        return;
      }
    }
  }
  // At the start of a text the mark is harmless; anywhere else it is a copying mistake.
  void byte_order_mark() {
    Range range{pos_, pos_ + static_cast<uint32_t>(kByteOrderMark.size())};
    pos_ = range.end;
    if (range.begin == 0) return;
    problems_.push_back({DiagnosticKind::UnknownCharacter,
                         range,
                         "a byte order mark stands only at the start of a file",
                         {},
                         {{"take it away", {{Place{{}, range}, ""}}}}});
  }
  void line_comment() {
    uint32_t begin = pos_;
    while (pos_ < text_.size() && text_[pos_] != '\n' && text_[pos_] != '\r') ++pos_;
    std::string_view line = text_.substr(begin, pos_ - begin);
    if (!line.starts_with("///")) return;
    line.remove_prefix(3);
    if (line.starts_with(" ")) line.remove_prefix(1);
    line = line.substr(0, line.find_last_not_of(" \t\v\f") + 1);
    doc_ += std::string(line) + "\n";
  }
  void block_comment() {
    uint32_t begin = pos_, inner = pos_;
    int depth = 0;
    do {
      if (starts("/*")) {
        ++depth;
        inner = pos_;
        pos_ += 2;
      } else if (starts("*/")) {
        --depth;
        pos_ += 2;
      } else {
        ++pos_;
      }
    } while (depth > 0 && pos_ < text_.size());
    if (depth == 0) return;
    unterminated_ = true;
    SyntaxProblem problem{
        DiagnosticKind::Unterminated, {begin, begin + 2}, "this comment has no closing `*/`"};
    if (inner != begin)
      problem.notes.push_back({Place{{}, Range{inner, inner + 2}}, "comments nest: this one is inside it"});
    problems_.push_back(std::move(problem));
  }
  void string() {
    const uint32_t begin = pos_;
    const TokenEnd string = string_end(text_, begin);
    pos_ = static_cast<uint32_t>(string.end);
    if (string.closed) return;
    unterminated_ = true;
    problems_.push_back(
        {DiagnosticKind::Unterminated, {begin, begin + 1}, "this string has no closing quote"});
  }

  std::string_view text_;
  std::vector<SyntaxProblem>& problems_;
  uint32_t pos_ = 0;
  std::string doc_;
  bool unterminated_ = false;
};

}  // namespace quern::scanner_detail
