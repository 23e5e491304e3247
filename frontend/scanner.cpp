#include "frontend/scanner.h"

#include <array>
#include <cctype>
#include <optional>

namespace quern {

namespace {

enum class TokenKind : uint8_t { Word, String, Open, Close, Semicolon, Other, End };

struct Token {
  TokenKind kind;
  Range range;
  bool at_line_start;  ///< column 0
};

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '@'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

// Tokens as coarse as splitting needs. Doc comments are remembered, other comments skipped.
class Tokens {
 public:
  Tokens(std::string_view text, std::vector<SyntaxProblem>& problems) : text_(text), problems_(problems) {}

  Token next() {
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

  /// The `///` lines since the last call.
  std::string take_doc() { return std::exchange(doc_, {}); }
  void jump(uint32_t pos) { pos_ = pos; }
  uint32_t pos() const { return pos_; }
  bool unterminated() const { return unterminated_; }

 private:
  static Range at(uint32_t p) { return {p, p}; }
  bool starts(std::string_view prefix) const { return text_.substr(pos_).starts_with(prefix); }

  void skip_blanks() {
    while (pos_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[pos_]))) {
        ++pos_;
      } else if (starts("//")) {
        line_comment();
      } else if (starts("/*")) {
        block_comment();
      } else {
        return;
      }
    }
  }
  void line_comment() {
    uint32_t begin = pos_;
    while (pos_ < text_.size() && text_[pos_] != '\n' && text_[pos_] != '\r') ++pos_;
    std::string_view line = text_.substr(begin, pos_ - begin);
    if (!line.starts_with("///")) return;
    line.remove_prefix(3);
    if (line.starts_with(" ")) line.remove_prefix(1);
    doc_ += std::string(line) + "\n";
  }
  void block_comment() {
    uint32_t begin = pos_;
    int depth = 0;
    do {
      if (starts("/*")) {
        ++depth;
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
    problems_.push_back(
        {DiagnosticKind::Unterminated, {begin, begin + 2}, "this comment has no closing `*/`"});
  }
  void string() {
    uint32_t begin = pos_++;
    while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n' && text_[pos_] != '\r')
      pos_ += text_[pos_] == '\\' && pos_ + 1 < text_.size() ? 2 : 1;
    if (pos_ < text_.size() && text_[pos_] == '"') {
      ++pos_;
      return;
    }
    pos_ = std::min(pos_, static_cast<uint32_t>(text_.size()));
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

struct Keyword {
  std::string_view word;
  PieceKind kind;
};
constexpr std::array<Keyword, 8> kKeywords{{{"def", PieceKind::Def},
                                            {"op", PieceKind::Op},
                                            {"type", PieceKind::Type},
                                            {"extern", PieceKind::Op},
                                            {"import", PieceKind::Import},
                                            {"test", PieceKind::Test},
                                            {"infix", PieceKind::Infix},
                                            {"static", PieceKind::Static}}};

class Splitter {
 public:
  Splitter(std::string_view text, ScanOutcome& outcome)
      : text_(text), outcome_(outcome), tokens_(text, outcome.problems) {}

  void run(uint32_t start) {
    tokens_.jump(start);
    Token token = tokens_.next();
    while (token.kind != TokenKind::End) {
      if (token.kind == TokenKind::Semicolon) {
        token = tokens_.next();
        continue;
      }
      token = piece(token);
    }
  }

 private:
  std::string_view word(const Token& t) const {
    return text_.substr(t.range.begin, t.range.end - t.range.begin);
  }

  std::optional<PieceKind> keyword(const Token& t) const {
    if (t.kind != TokenKind::Word) return std::nullopt;
    for (const Keyword& k : kKeywords)
      if (k.word == word(t)) return k.kind;
    return std::nullopt;
  }
  // `op`, `type`, `test` … are names too (`test(…)`, `type=`): a declaration starts where a name or a string
  // follows.
  std::optional<PieceKind> declaration_at(const Token& t) {
    auto kind = keyword(t);
    if (!kind) return std::nullopt;
    uint32_t p = t.range.end;
    while (p < text_.size() && (text_[p] == ' ' || text_[p] == '\t')) ++p;
    bool followed = p < text_.size() && p > t.range.end && (is_word_start(text_[p]) || text_[p] == '"');
    return followed ? kind : std::nullopt;
  }

  // Consumes one piece that starts with `first`; returns the token after it.
  Token piece(Token first) {
    Piece piece{PieceKind::Statement, "", {first.range.begin, first.range.end}, tokens_.take_doc()};
    auto kind = declaration_at(first);
    bool is_declaration = kind.has_value();
    if (is_declaration) piece.kind = *kind;
    int depth = first.kind == TokenKind::Open ? 1 : 0;
    Token token = tokens_.next();
    if (is_declaration) {
      if (word(first) == "extern" && word(token) == "type") piece.kind = PieceKind::Type;
      if (word(first) == "extern") {
        piece.range.end = token.range.end;
        token = tokens_.next();
      }
      piece.name = token.kind == TokenKind::String
                       ? std::string(word(token).substr(1, word(token).size() - 2))
                       : std::string(word(token));
    }
    bool had_body = false;
    while (token.kind != TokenKind::End) {
      if (token.at_line_start && declaration_at(token)) break;
      if (depth <= 0 && token.kind == TokenKind::Semicolon) break;
      if (depth == 0 && is_declaration && had_body && !continues(token)) break;
      if (depth == 0 && is_declaration && ends_without_body(piece, token)) break;
      if (token.kind == TokenKind::Open) ++depth;
      if (token.kind == TokenKind::Close) --depth;
      piece.range.end = token.range.end;
      had_body = depth == 0 && token.kind == TokenKind::Close && word(token) == "}";
      token = tokens_.next();
    }
    if (!is_declaration)
      piece.name = bound_name(text_.substr(piece.range.begin, piece.range.end - piece.range.begin));
    outcome_.pieces.push_back(std::move(piece));
    return token;
  }
  // "x" of `let %x = …`, "0" of `%0 = …`, "" of an expression.
  static std::string bound_name(std::string_view statement) {
    auto skip = [&](size_t p) {
      while (p < statement.size() && std::isspace(static_cast<unsigned char>(statement[p]))) ++p;
      return p;
    };
    size_t p = 0;
    bool let = statement.starts_with("let") && statement.size() > 3 && !is_word(statement[3]);
    if (let) p = skip(3);
    if (p >= statement.size() || statement[p] != '%') return "";
    size_t end = ++p;
    while (end < statement.size() && (is_word(statement[end]) || statement[end] == '/') &&
           statement[end] != '.')
      ++end;
    std::string name(statement.substr(p, end - p));
    if (let) return name == "_" ? "" : name;
    size_t equals = skip(end);
    bool graph = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) &&
                 equals < statement.size() && statement[equals] == '=' && statement.substr(equals, 2) != "==";
    return graph ? name : "";
  }
  // After the `}` of one body a definition may go on with another one.
  bool continues(const Token& t) const {
    // A clause may end in the `}` of an `if`: the body, or further clauses, follow.
    if (t.kind == TokenKind::Open && word(t) == "{") return true;
    if (t.kind == TokenKind::Word && word(t) == "static") return !t.at_line_start;
    return t.kind == TokenKind::Word && (word(t) == "when" || word(t) == "else" || word(t) == "gradient" ||
                                         word(t) == "shape" || word(t) == "where");
  }
  // import "x" as y and infix "+" add need no `;`: what follows their last word starts the next piece.
  bool ends_without_body(const Piece& piece, const Token& t) const {
    std::string_view so_far = text_.substr(piece.range.begin, piece.range.end - piece.range.begin);
    if (piece.kind == PieceKind::Import)
      return so_far.find('"') != so_far.rfind('"') && t.kind != TokenKind::Word;
    return false;
  }

  std::string_view text_;
  ScanOutcome& outcome_;
  Tokens tokens_;
};

// `#[version = "0.0.5"]` at the start: returns where the rest begins.
uint32_t skip_version(std::string_view text, ScanOutcome& outcome) {
  size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || !text.substr(start).starts_with("#[version")) return 0;
  size_t end = text.find(']', start);
  if (end == std::string_view::npos) return 0;
  outcome.slash_names = true;
  return static_cast<uint32_t>(end + 1);
}

}  // namespace

ScanOutcome scan(std::string_view text) {
  ScanOutcome outcome;
  size_t invalid = first_invalid_utf8(text);
  if (invalid != text.size()) {
    uint32_t at = static_cast<uint32_t>(invalid);
    outcome.problems.push_back({DiagnosticKind::InvalidUtf8, {at, at + 1}, "this byte is not valid UTF-8"});
    text = text.substr(0, invalid);
  }
  uint32_t start = skip_version(text, outcome);
  size_t metadata = text.find("#[metadata]");
  if (metadata != std::string_view::npos && (metadata == 0 || text[metadata - 1] == '\n')) {
    outcome.metadata = {static_cast<uint32_t>(metadata + 11), static_cast<uint32_t>(text.size())};
    text = text.substr(0, metadata);
  }
  Splitter(text, outcome).run(start);
  return outcome;
}

bool is_unfinished(std::string_view text) {
  std::vector<SyntaxProblem> problems;
  Tokens tokens(text, problems);
  int depth = 0;
  for (Token t = tokens.next(); t.kind != TokenKind::End; t = tokens.next()) {
    if (t.kind == TokenKind::Open) ++depth;
    if (t.kind == TokenKind::Close) --depth;
  }
  return depth > 0 || (tokens.unterminated() && problems.back().message.find("comment") != std::string::npos);
}

}  // namespace quern
