#include "frontend/parse/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>

#include "frontend/parse/scanner_tokens.h"
#include "frontend/text/lexeme.h"

namespace quern {

using namespace scanner_detail;

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

class Splitter {
 public:
  Splitter(std::string_view text, ScanOutcome& outcome)
      : text_(text), outcome_(outcome), tokens_(text, outcome.problems) {}

  /// Splits from `start` on; before each piece, `stop` tells whether the rest is already known.
  void run(uint32_t start, const std::function<bool(uint32_t begin)>& stop = nullptr) {
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
  std::string take_doc() { return tokens_.take_doc(); }

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
  // `op`, `type`, `test` … are names too (`test(…)`, `type=`): a declaration requires a following name or
  // string.
  std::optional<PieceKind> declaration_at(const Token& t) {
    auto kind = keyword(t);
    if (!kind) return std::nullopt;
    TokenKind next = token_from(text_, t.range.end).kind;
    return next == TokenKind::Word || next == TokenKind::String ? kind : std::nullopt;
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
  // "a b " of `(%a, P(%b, _)): type = …`.
  std::string names_of_pattern(std::string_view text) const {
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
  std::string bound_name(std::string_view statement) const {
    auto skip = [&](size_t p) -> size_t { return token_from(statement, p).range.begin; };
    size_t p = 0;
    auto begins_with = [&](std::string_view word) {
      return statement.starts_with(word) && statement.size() > word.size() &&
             !is_word(statement[word.size()]);
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
  bool continues(const Token& t) const {
    // A clause may end in the `}` of an `if`: the body, or further clauses, follow.
    if (t.kind == TokenKind::Open && word(t) == "{") return true;
    if (t.kind == TokenKind::Word && word(t) == "static") return !t.at_line_start;
    return t.kind == TokenKind::Word &&
           (word(t) == "when" || word(t) == "else" || word(t) == "gradient" || word(t) == "shape" ||
            word(t) == "where" || word(t) == "warn" || word(t) == "lowering" || begins_schedule(t));
  }
  // `schedule(…)` is a call, which begins a statement.
  bool begins_schedule(const Token& t) const {
    return word(t) == "schedule" && word(token_from(text_, t.range.end)) == "{";
  }
  // `import "x" as y` needs no `;`: what follows its last word starts the next piece.
  bool ends_without_body(const Piece& piece, const Token& t) const {
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

  std::string_view text_;
  ScanOutcome& outcome_;
  Tokens tokens_;
};

constexpr size_t kLookedAt = 4096;

// Source text has neither a UTF-16 byte order mark nor frequent NUL bytes.
bool is_text(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return false;
  std::string_view head = text.substr(0, kLookedAt);
  auto nuls = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  return 16 * nuls < std::max<size_t>(head.size(), 16);
}
std::string not_text(std::string_view text) {
  bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  return utf16 ? "this file is UTF-16; a program is UTF-8 text"
               : "this file is binary data; a program is UTF-8 text";
}

// Reports each run of invalid bytes once.
void report_invalid(std::string_view text, std::vector<SyntaxProblem>& problems) {
  for (size_t i = first_invalid_utf8(text); i < text.size();) {
    size_t length = utf8_length(text, i);
    if (length != 0) {
      i += length;
      continue;
    }
    auto begin = static_cast<uint32_t>(i);
    while (i < text.size() && utf8_length(text, i) == 0) ++i;
    auto end = static_cast<uint32_t>(i);
    problems.push_back({DiagnosticKind::InvalidUtf8,
                        {begin, end},
                        end - begin == 1 ? "this byte is not valid UTF-8"
                                         : fmt::format("these {} bytes are not valid UTF-8", end - begin)});
  }
}

// TVM prints the header `#[version = "0.0.5"]` since 0.7.
constexpr int kLastWithOldHeader = 6;

// The end of digits at a position.
size_t after_digits(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size());
}

// `v0.0.4`, alone on the first line of files before TVM 0.7; a comment may follow.
bool is_old_version(std::string_view text) {
  size_t end = 0;
  for (char before : std::string_view("v..")) {
    if (end == text.size() || text[end] != before) return false;
    const size_t digits = end + 1;
    end = after_digits(text, digits);
    if (end == digits) return false;
  }
  std::string_view rest = text.substr(end, text.find_first_of("\r\n", end) - end);
  const size_t next = rest.find_first_not_of(" \t\v\f");
  return next == std::string_view::npos || rest.substr(next).starts_with("//");
}

// The end of a shebang line, `#!/usr/bin/env quern`; 0 if there is none.
size_t after_interpreter(std::string_view text) {
  return text.starts_with("#!") ? std::min(text.find_first_of("\r\n"), text.size()) : 0;
}

// The first position from `begin` on that is neither blank nor in a comment; npos if there is none.
size_t after_comments(std::string_view text, size_t begin) {
  std::vector<SyntaxProblem> told_when_it_is_split;
  Tokens tokens(text, told_when_it_is_split);
  tokens.jump(static_cast<uint32_t>(begin));
  Token first = tokens.next();
  return first.kind == TokenKind::End ? std::string_view::npos : first.range.begin;
}

constexpr std::string_view kMetadata = "#[metadata]";

// The start of the line that begins the metadata; npos if there are none.
size_t find_metadata(std::string_view text) {
  size_t at = text.find(kMetadata);
  while (at != std::string_view::npos && at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r')
    at = text.find(kMetadata, at + 1);
  return at;
}

// The range of a text's pieces: without a shebang line and the version header (`#[version = "0.0.5"]`), up to
// `#[metadata]`.
ScanOutcome frame_of(std::string_view text) {
  ScanOutcome outcome;
  if (!is_text(text)) {
    outcome.problems.push_back({DiagnosticKind::NotText, {0, 0}, not_text(text)});
    return outcome;
  }
  report_invalid(text, outcome.problems);
  outcome.begin = static_cast<uint32_t>(after_interpreter(text));
  size_t start = after_comments(text, outcome.begin);
  if (start != std::string_view::npos && is_old_version(text.substr(start))) {
    outcome.slash_names = true;
    outcome.tvm = kLastWithOldHeader;
    outcome.begin = static_cast<uint32_t>(std::min(text.find_first_of("\r\n", start), text.size()));
  }
  if (start != std::string_view::npos && text.substr(start).starts_with("#[version")) {
    size_t end = text.find(']', start);
    outcome.slash_names = end != std::string_view::npos;
    if (outcome.slash_names) {
      outcome.begin = static_cast<uint32_t>(end + 1);
      outcome.tvm = kLastTvm;
    }
  }
  if (size_t metadata = find_metadata(text); metadata != std::string_view::npos) {
    auto begin = static_cast<uint32_t>(metadata + kMetadata.size());
    outcome.metadata = {begin, static_cast<uint32_t>(text.size())};
    text = text.substr(0, metadata);
  }
  outcome.end = static_cast<uint32_t>(text.size());
  return outcome;
}

void move(Range& range, int64_t by) {
  range.begin = static_cast<uint32_t>(range.begin + by);
  range.end = static_cast<uint32_t>(range.end + by);
}

// The piece from which to rescan: two before the edited one, since the end of a piece depends on the
// following text.
size_t first_to_scan(const std::vector<Piece>& pieces, uint32_t edit_begin) {
  auto touched = std::partition_point(pieces.begin(), pieces.end(),
                                      [&](const Piece& p) { return p.range.end < edit_begin; });
  auto before = touched - pieces.begin();
  return static_cast<size_t>(std::max<std::ptrdiff_t>(0, before - 2));
}

}  // namespace

ScanOutcome scan(std::string_view text) {
  ScanOutcome outcome = frame_of(text);
  Splitter(text.substr(0, outcome.end), outcome).run(outcome.begin);
  return outcome;
}

TextEdit edit_between(std::string_view before, std::string_view after) {
  auto [a, b] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  size_t begin = static_cast<size_t>(a - before.begin());
  size_t tail = 0, most = std::min(before.size(), after.size()) - begin;
  while (tail < most && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(before.size() - tail),
          static_cast<uint32_t>(after.size() - tail)};
}

Rescan rescan(ScanOutcome& outcome, std::string_view text, TextEdit edit) {
  int64_t by = static_cast<int64_t>(edit.new_end) - edit.old_end;
  ScanOutcome fresh = frame_of(text);
  bool same_frame = fresh.begin == outcome.begin && edit.begin >= outcome.begin &&
                    edit.old_end <= outcome.end && fresh.end == outcome.end + by &&
                    fresh.slash_names == outcome.slash_names && fresh.tvm == outcome.tvm;
  if (!same_frame) {
    ScanOutcome before = std::exchange(outcome, scan(text));
    return {0, 0, std::move(before.pieces)};
  }
  std::vector<Piece>& old = outcome.pieces;
  size_t first = first_to_scan(old, edit.begin);
  uint32_t start = first == 0 || old.empty() ? fresh.begin : old[first].range.begin;
  // The old piece after the edit that begins where a new one does: the rest is known.
  size_t resumed = old.size();
  auto known = [&](uint32_t begin) {
    if (begin < edit.new_end) return false;
    uint32_t was = static_cast<uint32_t>(begin - by);
    auto at = std::lower_bound(old.begin() + static_cast<std::ptrdiff_t>(first), old.end(), was,
                               [](const Piece& p, uint32_t b) { return p.range.begin < b; });
    if (at == old.end() || at->range.begin != was || was < edit.old_end) return false;
    resumed = static_cast<size_t>(at - old.begin());
    return true;
  };
  Splitter splitter(text.substr(0, fresh.end), fresh);
  splitter.run(start, known);
  if (first > 0 && !fresh.pieces.empty()) fresh.pieces[0].doc = old[first].doc;

  for (size_t i = resumed; i < old.size(); ++i) move(old[i].range, by);
  if (resumed < old.size()) old[resumed].doc = splitter.take_doc();
  uint32_t seen_to = resumed < old.size() ? static_cast<uint32_t>(old[resumed].range.begin - by) : UINT32_MAX;
  std::vector<SyntaxProblem> problems;
  for (SyntaxProblem& p : outcome.problems)
    if (p.range.begin < start && p.kind != DiagnosticKind::InvalidUtf8) problems.push_back(std::move(p));
  problems.insert(problems.end(), fresh.problems.begin(), fresh.problems.end());
  for (SyntaxProblem& p : outcome.problems)
    if (p.range.begin >= seen_to && p.kind != DiagnosticKind::InvalidUtf8) {
      move(p, by);
      problems.push_back(std::move(p));
    }
  Rescan same{first, old.size() - resumed, {}};
  auto from = old.begin() + static_cast<std::ptrdiff_t>(first),
       to = old.begin() + static_cast<std::ptrdiff_t>(resumed);
  same.replaced.assign(std::make_move_iterator(from), std::make_move_iterator(to));
  auto scanned = old.erase(from, to);
  old.insert(scanned, std::make_move_iterator(fresh.pieces.begin()),
             std::make_move_iterator(fresh.pieces.end()));
  outcome.problems = std::move(problems);
  outcome.begin = fresh.begin;
  outcome.end = fresh.end;
  outcome.metadata = fresh.metadata;
  return same;
}

std::vector<std::string> constructor_names(std::string_view type_declaration) {
  std::vector<std::string> names;
  std::vector<SyntaxProblem> problems;
  Tokens tokens(type_declaration, problems);
  int depth = 0;
  bool in_braces = false, begins = false;  // whether the next word begins a part between the braces
  for (Token t = tokens.next(); t.kind != TokenKind::End; t = tokens.next()) {
    std::string_view word = type_declaration.substr(t.range.begin, t.range.end - t.range.begin);
    if (begins && t.kind == TokenKind::Word) names.emplace_back(word);
    in_braces = depth == 0 ? word == "{" : in_braces;
    begins = in_braces && ((depth == 0 && word == "{") || (depth == 1 && word == ","));
    if (t.kind == TokenKind::Open) ++depth;
    if (t.kind == TokenKind::Close) --depth;
  }
  return names;
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
