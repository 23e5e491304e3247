#include "ide/lexed_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string>

#include "frontend/parse/scanner.h"
#include "frontend/syntax/called_words.h"
#include "frontend/text/format_string.h"

namespace quern::ide {

namespace {

// Replaces all but code by blanks, so that the lexer of the language sees only what it knows.
class Blanks {
 public:
  Blanks(std::string_view text, LexedText& out) : text_(text), out_(out), code_(text) {}

  std::string run() {
    Range declarations{0, static_cast<uint32_t>(text_.size())};
    if (text_.find("#[") != std::string_view::npos) {
      const ScanOutcome scanned = scan(text_);
      slash_names = scanned.slash_names;
      declarations = {scanned.begin, scanned.end};
    }
    comment({0, declarations.begin});
    for (size_t at = declarations.begin; at < declarations.end;) {
      const size_t end = std::min<size_t>(comment_end(text_, at).end, declarations.end);
      if (end > at) {
        comment({static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
        at = end;
      } else if (text_[at] == '"') {
        at = string(at);
      } else {
        bracket(at);
        ++at;
      }
    }
    comment({declarations.end, static_cast<uint32_t>(text_.size())});
    return with_valid_utf8(std::move(code_));
  }

  bool slash_names = false;
  std::vector<Lexeme> strings;

 private:
  void blank(Range range) { std::fill(code_.begin() + range.begin, code_.begin() + range.end, ' '); }
  void comment(Range range) {
    if (range.begin == range.end) return;
    blank(range);
    out_.comments.push_back(range);
  }
  size_t string(size_t at) {
    const TokenEnd end = string_end(text_, at);
    const Range range{static_cast<uint32_t>(at), static_cast<uint32_t>(end.end)};
    blank(range);
    if (is_printed_.empty() || !is_printed_.back())
      strings.push_back({LexemeKind::String, range});
    else
      format_string(range, {range.begin + 1, range.end - (end.closed ? 1 : 0)});
    return range.end;
  }

  // Splits a string of `print` into the code in its braces and the strings around them.
  void format_string(Range range, Range inside) {
    for (const FormatPart& part : format_parts(text_, inside)) {
      if (part.kind != FormatPart::Kind::Value && part.kind != FormatPart::Kind::Unclosed) continue;
      strings.push_back({LexemeKind::String, {range.begin, part.expression.begin}});
      code_in_string(part.expression);
      range.begin = part.expression.end;
    }
    if (range.begin < range.end) strings.push_back({LexemeKind::String, range});
  }
  void code_in_string(Range range) {
    for (uint32_t at = range.begin; at < range.end; ++at) {
      if (!text_.substr(at).starts_with("\\\"")) {
        code_[at] = text_[at];
        continue;
      }
      const size_t quote = text_.substr(0, range.end).find("\\\"", at + 2);
      const auto end = static_cast<uint32_t>(std::min<size_t>(quote + 2, range.end));
      strings.push_back({LexemeKind::String, {at, quote == std::string_view::npos ? range.end : end}});
      at = strings.back().range.end - 1;
    }
  }

  // Tracks the open brackets, and whether strings in them are printed: `print("…", `.
  void bracket(size_t at) {
    const char c = text_[at];
    if ((c == ')' || c == ']' || c == '}') && !is_printed_.empty()) is_printed_.pop_back();
    if (c != '(' && c != '[' && c != '{') return;
    std::string_view before = text_.substr(0, at);
    before = before.substr(0, before.find_last_not_of(" \t\r\n") + 1);
    size_t begin = before.size();
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(before[begin - 1])) ||
                         std::strchr("_.%@/", before[begin - 1])))
      --begin;
    is_printed_.push_back(c == '(' && takes_format_strings(before.substr(begin)));
  }

  std::string_view text_;
  LexedText& out_;
  std::string code_;
  std::vector<bool> is_printed_;  ///< by bracket that is open
};

// Matches brackets. If they do not nest, as few as possible stay unmatched.
void match_brackets(LexedText& text) {
  constexpr std::string_view kOpen = "([{", kClose = ")]}";
  struct Open {
    uint32_t lexeme;
    size_t kind;
  };
  std::vector<Open> open;
  std::array<size_t, kOpen.size()> count{};
  auto leave = [&] {
    --count[open.back().kind];
    open.pop_back();
  };
  for (uint32_t i = 0; i < text.lexemes.size(); ++i) {
    if (text.begins_declaration(i)) {
      open.clear();
      count.fill(0);
    } else if (text.opens(i)) {
      open.push_back({i, kOpen.find(text.word(i).back())});
      ++count[open.back().kind];
    } else if (text.closes(i)) {
      const size_t kind = kClose.find(text.word(i));
      if (count[kind] == 0) continue;
      while (open.back().kind != kind) leave();
      text.partner[i] = open.back().lexeme;
      text.partner[open.back().lexeme] = i;
      leave();
    }
  }
}

}  // namespace

bool LexedText::opens(size_t i) const {
  if (!is(i, LexemeKind::Symbol)) return false;
  const char last = word(i).back();
  return last == '(' || last == '[' || last == '{';
}

bool LexedText::closes(size_t i) const {
  if (!is(i, LexemeKind::Symbol)) return false;
  const std::string_view symbol = word(i);
  return symbol == ")" || symbol == "]" || symbol == "}";
}

bool LexedText::begins_line(size_t i) const {
  const uint32_t begin = lexemes[i].range.begin;
  return begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '\r';
}

bool LexedText::begins_declaration(size_t i) const {
  constexpr std::array<std::string_view, 8> kWords{"def",    "op",   "type",  "extern",
                                                   "import", "test", "infix", "static"};
  if (!is(i, LexemeKind::Word) || !begins_line(i)) return false;
  if (std::ranges::find(kWords, word(i)) == kWords.end()) return false;
  return is(i + 1, LexemeKind::Name) || is(i + 1, LexemeKind::Global) || is(i + 1, LexemeKind::Word) ||
         is(i + 1, LexemeKind::String);
}

LexedText lexed_text(std::string_view text) {
  return lexed_text(text, {0, static_cast<uint32_t>(text.size())}, false);
}

LexedText lexed_text(std::string_view text, Range window, bool slash_names) {
  LexedText lexed{text, {}, {}, {}};
  Blanks blanks(text.substr(window.begin, window.end - window.begin), lexed);
  const std::string code = blanks.run();
  const std::vector<Lexeme> rest = lex(code, slash_names || blanks.slash_names);
  lexed.lexemes.resize(rest.size() + blanks.strings.size());
  std::ranges::merge(
      rest, blanks.strings, lexed.lexemes.begin(), {}, [](const Lexeme& l) { return l.range.begin; },
      [](const Lexeme& l) { return l.range.begin; });
  const auto move = [&](Range& range) {
    range.begin += window.begin;
    range.end += window.begin;
  };
  for (Lexeme& lexeme : lexed.lexemes) move(lexeme.range);
  for (Range& comment : lexed.comments) move(comment);
  lexed.partner.assign(lexed.lexemes.size(), kNoLexeme);
  match_brackets(lexed);
  return lexed;
}

}  // namespace quern::ide
