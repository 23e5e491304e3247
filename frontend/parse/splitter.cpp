#include "frontend/parse/splitter.h"

#include <algorithm>
#include <array>

#include "frontend/text/lexeme.h"

namespace quern::scanner_detail {

namespace {

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

// The token at or after `begin`.
Token token_from(std::string_view text, size_t begin) {
  std::vector<SyntaxProblem> told_when_it_is_split;
  Tokens tokens(text, told_when_it_is_split);
  tokens.jump(static_cast<uint32_t>(begin));
  return tokens.next();
}

std::optional<PieceKind> declared_by(std::string_view word) {
  for (const Keyword& k : kKeywords)
    if (k.word == word) return k.kind;
  return std::nullopt;
}

/// Whether a `;` ends a statement of a definition's body, or a group of its parameters' brackets.
bool is_statement_end(const Token& token, int depth) {
  return depth == 1 && token.kind == TokenKind::Semicolon;
}

/// Long pieces have a mark about every 256 bytes.
void mark(Piece& piece, uint32_t end) {
  constexpr uint32_t kBetweenMarks = 256;
  const uint32_t at = end - piece.range.begin, last = piece.marks.empty() ? 0 : piece.marks.back();
  if (at - last >= kBetweenMarks) piece.marks.push_back(at);
}

}  // namespace

void Splitter::run(uint32_t start, const std::function<bool(uint32_t begin)>& stop) {
  tokens_.jump(start);
  Token token = tokens_.next();
  while (token.kind != TokenKind::End) {
    if (token.kind == TokenKind::Semicolon) {
      token = tokens_.next();
      continue;
    }
    if (stop && stop(token.range.begin)) return;
    token = piece(token);
  }
}

bool Splitter::run_inside(Piece& piece, uint32_t start, const std::function<bool(uint32_t end)>& known) {
  tokens_.jump(start);
  int depth = 1;
  for (Token token = tokens_.next(); token.kind != TokenKind::End; token = tokens_.next()) {
    if (token.at_line_start && declaration_at(token)) return false;
    if (token.kind == TokenKind::Open) ++depth;
    if (token.kind == TokenKind::Close && --depth == 0) return false;
    if (!is_statement_end(token, depth)) continue;
    if (known(token.range.end)) return true;
    mark(piece, token.range.end);
  }
  return false;
}

// `op`, `type`, `test` … are names too (`test(…)`, `type=`): a declaration requires a following name or
// string.
std::optional<PieceKind> Splitter::declaration_at(const Token& t) const {
  const auto kind = t.kind == TokenKind::Word ? declared_by(word(t)) : std::nullopt;
  if (!kind) return std::nullopt;
  TokenKind next = token_from(text_, t.range.end).kind;
  return next == TokenKind::Word || next == TokenKind::String ? kind : std::nullopt;
}

// Consumes one piece that starts with `first`; returns the token after it.
Token Splitter::piece(Token first) {
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
    piece.name = token.kind == TokenKind::String ? std::string(word(token).substr(1, word(token).size() - 2))
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
    if (is_statement_end(token, depth) && piece.kind == PieceKind::Def) mark(piece, token.range.end);
    had_body = depth == 0 && token.kind == TokenKind::Close && word(token) == "}";
    token = tokens_.next();
  }
  if (!is_declaration)
    piece.name = bound_name(text_.substr(piece.range.begin, piece.range.end - piece.range.begin));
  outcome_.pieces.push_back(std::move(piece));
  return token;
}

// "a b " of `(%a, P(%b, _)): type = …`.
std::string Splitter::names_of_pattern(std::string_view text) const {
  std::vector<SyntaxProblem> told_when_it_is_split;
  Tokens tokens(text, told_when_it_is_split);
  std::string names;
  int depth = 0;
  for (Token t = tokens.next(); t.kind != TokenKind::End; t = tokens.next()) {
    if (t.kind == TokenKind::Open) ++depth;
    if (t.kind == TokenKind::Close) --depth;
    const char c = text[t.range.begin];
    if (depth == 0 && (c == '=' || c == ':')) break;
    if (c != '%') continue;
    const std::string_view rest = text.substr(t.range.end);
    const std::string_view name = rest.substr(0, local_name_size(rest, outcome_.slash_names));
    if (!name.empty() && name != "_") names += std::string(name) + " ";
  }
  return names;
}

// "x" of `let %x = …`, "0" of `%0 = …`, "" of an expression.
std::string Splitter::bound_name(std::string_view statement) const {
  auto skip = [&](size_t p) -> size_t { return token_from(statement, p).range.begin; };
  size_t p = 0;
  auto begins_with = [&](std::string_view word) {
    return statement.starts_with(word) && statement.size() > word.size() && !is_word(statement[word.size()]);
  };
  bool let = begins_with("let"), free = begins_with("free_var");
  if (let || free) p = skip(let ? 3 : 8);
  if (let && p < statement.size() && (statement[p] == '(' || is_word_start(statement[p])))
    return names_of_pattern(statement.substr(p));
  if (p >= statement.size() || statement[p] != '%') return "";
  std::string_view rest = statement.substr(p + 1);
  if (let || free) {
    std::string_view name = rest.substr(0, local_name_size(rest, outcome_.slash_names));
    return name == "_" ? "" : std::string(name);
  }
  std::string_view number = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
  std::string_view after = statement.substr(skip(p + 1 + number.size()));
  bool graph = !number.empty() && after.starts_with('=') && !after.starts_with("==");
  return graph ? std::string(number) : "";
}

// A definition may have another body after the `}` of one.
bool Splitter::continues(const Token& t) const {
  // A clause may end in the `}` of an `if`: the body, or further clauses, follow.
  if (t.kind == TokenKind::Open && word(t) == "{") return true;
  if (t.kind == TokenKind::Word && word(t) == "static") return !t.at_line_start;
  return t.kind == TokenKind::Word &&
         (word(t) == "when" || word(t) == "else" || word(t) == "gradient" || word(t) == "shape" ||
          word(t) == "where" || word(t) == "warn" || word(t) == "lowering" || begins_schedule(t));
}

// `schedule(…)` is a call, which begins a statement.
bool Splitter::begins_schedule(const Token& t) const {
  return word(t) == "schedule" && word(token_from(text_, t.range.end)) == "{";
}

// `import "x" as y` needs no `;`: what follows its last word starts the next piece.
bool Splitter::ends_without_body(const Piece& piece, const Token& t) const {
  std::string_view so_far = text_.substr(piece.range.begin, piece.range.end - piece.range.begin);
  if (piece.kind == PieceKind::Import) {
    if (so_far.ends_with('"')) return so_far.find('"') + 1 != so_far.size() && word(t) != "as";
    bool after_as = so_far.ends_with("as") && !is_word(so_far[so_far.size() - 3]);
    bool name = word(t) != "let" && word(t) != "free_var";  // the name may not be typed yet
    return so_far.find('"') != std::string_view::npos && !(after_as && name);
  }
  // The name of an extern type is followed by its parameters, or by the next piece.
  if (piece.kind == PieceKind::Type && so_far.starts_with("extern")) {
    bool in_list = so_far.ends_with('<') || so_far.ends_with(',');
    bool named = so_far.ends_with(piece.name) && so_far.size() > piece.name.size();
    std::string_view next = word(t);
    return named && !in_list && next != "[" && next != "<" && next != ">" && next != "," && next != "{";
  }
  // A type alias ends with its line if the next one begins at column 0.
  bool is_alias = piece.kind == PieceKind::Type && so_far.find('=') != std::string_view::npos;
  return is_alias && t.at_line_start && !so_far.ends_with('=') && !so_far.ends_with("->");
}

}  // namespace quern::scanner_detail
