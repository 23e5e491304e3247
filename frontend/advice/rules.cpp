// The rules on foreign or missing characters, types and words.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "frontend/advice/advice_impl.h"
#include "frontend/text/suggest.h"
#include "ir/type/dtype.h"

namespace quern {

namespace {

struct CharacterRow {
  std::string_view text, name, replacement;
};
// Look-alikes of the language's characters.
constexpr std::array<CharacterRow, 21> kLookAlikes{{
    {"“", "a typographic quote", "\""},
    {"”", "a typographic quote", "\""},
    {"„", "a typographic quote", "\""},
    {"‘", "a typographic quote", "\""},
    {"’", "a typographic quote", "\""},
    {"−", "a minus sign of Unicode", "-"},
    {"–", "a dash", "-"},
    {"—", "a dash", "-"},
    {"×", "a multiplication sign", "*"},
    {"·", "a multiplication dot", "*"},
    {"÷", "a division sign", "/"},
    {"≤", "a sign of Unicode", "<="},
    {"≥", "a sign of Unicode", ">="},
    {"≠", "a sign of Unicode", "!="},
    {"→", "an arrow of Unicode", "->"},
    {"⇒", "an arrow of Unicode", "=>"},
    {"…", "an ellipsis", ".."},
    {"\u00A0", "a no-break space", " "},
    {"\u200B", "a zero-width space", ""},
    {"\uFEFF", "a byte order mark", ""},
    {"，", "a full-width comma", ","},
}};

struct WordRow {
  std::string_view word, advice;
};
// Statements of other languages, and their counterparts here.
constexpr std::array<WordRow, 29> kForeignWords{{
    {"for",
     "there are no loops: write an index expression `[i < n] => …`, `(e for k < N)` or a recursive `def`"},
    {"while", "there are no loops: write a recursive `def`"},
    {"do", "there are no loops: write a recursive `def`"},
    {"return", "there is no `return`: the last expression of a block is its value"},
    {"yield", "there is no `yield`: the last expression of a block is its value"},
    {"lambda", "a function literal is written `fn (%x) { … }`"},
    {"from", "`import \"file.relay\" as name` imports a file; the library is always in scope"},
    {"using", "`import \"file.relay\" as name` imports a file; the library is always in scope"},
    {"use", "`import \"file.relay\" as name` imports a file; the library is always in scope"},
    {"include", "`import \"file.relay\" as name` imports a file; the library is always in scope"},
    {"class", "a record is written `type Net { Net(weight: …) }`; functions take it as a parameter"},
    {"struct", "a record is written `type Net { Net(weight: …) }`"},
    {"record", "a record is written `type Net { Net(weight: …) }`"},
    {"enum", "a type with several constructors is written `type Shape { Circle(…), Square(…) }`"},
    {"data", "a type with several constructors is written `type Shape { Circle(…), Square(…) }`"},
    {"print", "`print` is called with parentheses: `print(\"label\", %x)`"},
    {"assert", "a check is written as a `test` declaration with `assert_close(…)`"},
    {"del", "values are freed by themselves when nothing uses them"},
    {"try", "there are no exceptions: what can go wrong is a value (`Some`, `None`) or stops the program"},
    {"raise", "there are no exceptions: what can go wrong is a value (`Some`, `None`) or stops the program"},
    {"with", "there is no `with`: bind values with `let %x = …;`"},
    {"pass", "an empty block is written `{ }` and has the value `()`"},
    {"break", "there are no loops to leave: write a recursive `def`"},
    {"continue", "there are no loops to go on with: write a recursive `def`"},
    {"switch", "write `match (%x) { pattern => …, … }`"},
    {"case", "write `match (%x) { pattern => …, … }`"},
    {"then", "write `if (condition) { … } else { … }`"},
    {"begin", "a block is written `{ … }`"},
    {"end", "a block is written `{ … }`"},
}};
constexpr std::array<std::string_view, 7> kForeignDef{"fun",  "func", "function", "fn",
                                                      "defn", "proc", "define"};

}  // namespace

// --- characters

namespace {

/// A meaningless character and its replacement.
struct MistypedRow {
  std::string_view text, message, fix, replacement;
};
constexpr MistypedRow kMistyped[] = {
    {"#", "a comment begins with `//`", "write `//`", "//"},
    {"$", "a variable begins with `%`: `%x`", "write `%`", "%"},
    {"\\", "no `\\` is needed: a line's end means nothing, a statement goes on to its `;`",
     "take the `\\` away", ""},
};

}  // namespace

std::optional<SyntaxProblem> Advisor::foreign_symbol(std::string_view text, Range at) {
  bool doubled = word(f_.at + 1) == text && range(f_.at + 1).begin == at.end;
  if (doubled && (text == "&" || text == "|")) {
    std::string meant = text == "&" ? "and" : "or";
    Range both{at.begin, at.end + 1};
    SyntaxProblem p =
        problem(DiagnosticKind::ForeignOperator, both, fmt::format("`{0}{0}` is written `{1}`", text, meant));
    p.fixes.push_back(fix(fmt::format("write `{}`", meant), {{both, meant}}));
    return p;
  }
  if (text == "&" || text == "|" || text == "^") {
    std::string meant = text == "&"   ? "`logical_and(%a, %b)` combines bools element by element"
                        : text == "|" ? "`logical_or(%a, %b)` combines bools element by element"
                                      : "a power is `power(%x, %y)`, and `logical_xor(%a, %b)` is of bools";
    return here(DiagnosticKind::ForeignOperator, fmt::format("there is no operator `{}`: {}", text, meant));
  }
  if (text == "@" && !f_.wants_expression)
    return here(DiagnosticKind::ForeignOperator,
                "there is no operator `@`: a matrix product is `matmul(%x, %y)`");
  return std::nullopt;
}

SyntaxProblem Advisor::single_quote(Range at) {
  size_t close = f_.text.find_first_of("'\r\n", at.end);
  SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, "a string stands in double quotes: `\"…\"`");
  if (close != std::string_view::npos && f_.text[close] == '\'' &&
      f_.text.substr(at.end, close - at.end).find_first_of("\"\\") == std::string_view::npos) {
    auto end = static_cast<uint32_t>(close);
    p.fixes.push_back(fix("write double quotes", {{at, "\""}, {{end, end + 1}, "\""}}));
  }
  return p;
}

std::optional<SyntaxProblem> Advisor::look_alike(std::string_view text, Range at) {
  const auto* row = std::ranges::find(kLookAlikes, text, &CharacterRow::text);
  if (row == std::end(kLookAlikes)) return std::nullopt;
  std::string what = row->replacement.empty() ? "take it away" : fmt::format("write `{}`", row->replacement);
  SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, fmt::format("this is {}; {}", row->name, what));
  std::vector<std::pair<Range, std::string>> edits{{at, std::string(row->replacement)}};
  // A quote's partner is replaced with it.
  if (row->replacement == "\"")
    for (size_t i = f_.at + 1; i < f_.tokens.size() && same_line(f_.at, i); ++i)
      for (const CharacterRow& other : kLookAlikes)
        if (edits.size() == 1 && other.replacement == "\"" && other.text == word(i))
          edits.emplace_back(range(i), "\"");
  p.fixes.push_back(fix(what, std::move(edits)));
  return p;
}

std::optional<SyntaxProblem> Advisor::characters() {
  // `|` is only allowed between the numbers of a schedule.
  if (!is(f_.at, LexedKind::Unknown) && word(f_.at) != "|") return std::nullopt;
  std::string text(word(f_.at));
  Range at = range(f_.at);
  if (auto foreign = foreign_symbol(text, at)) return foreign;
  if (text == "'") return single_quote(at);
  if (text == "#" && word(f_.at + 1) == "[")
    return here(
        DiagnosticKind::UnknownCharacter,
        "the version `#[version = …]` stands at the top of a file, `#[metadata]` in a line of its own "
        "before its end");
  for (const MistypedRow& row : kMistyped) {
    if (row.text != text) continue;
    SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, std::string(row.message));
    p.fixes.push_back(fix(std::string(row.fix), {{at, std::string(row.replacement)}}));
    return p;
  }
  if (auto similar = look_alike(text, at)) return similar;
  unsigned char first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7F)
    return here(DiagnosticKind::UnknownCharacter,
                fmt::format("the byte 0x{:02X} is no character of a program", first));
  if (first >= 0x80)
    return here(
        DiagnosticKind::UnknownCharacter,
        fmt::format("`{}` has no meaning outside strings and comments; names are made of the letters a to z, "
                    "digits and `_`",
                    text));
  return here(DiagnosticKind::UnknownCharacter, fmt::format("the character `{}` has no meaning here", text));
}

// --- types

std::optional<SyntaxProblem> Advisor::types() {
  size_t at = f_.at;
  if (at == 0) return std::nullopt;
  if (word(at - 1) == "Tensor" && word(at) == "(")
    return problem(DiagnosticKind::TensorTypeForm, range(at),
                   "a tensor type has square brackets: `Tensor[(2, 3), float32]`");
  bool in_tensor = enclosing_ < f_.tokens.size() && enclosing_ > 0 && word(enclosing_ - 1) == "Tensor";
  if (in_tensor && word(at) == "]" && expects(","))
    return here(
        DiagnosticKind::TensorTypeForm,
        "a tensor type has a shape and a dtype: the dtype is missing, as in `Tensor[(2, 3), float32]`");
  if (in_tensor && word(at) == ",") {
    SyntaxProblem p = problem(DiagnosticKind::TensorTypeForm, range(at),
                              "the dims of a tensor type stand in parentheses: `Tensor[(2, 3), float32]`");
    size_t end = at, last_comma = at;
    while (end < f_.tokens.size() &&
           (word(end) == "," || is(end, LexedKind::Name) || is(end, LexedKind::Number))) {
      if (word(end) == ",") last_comma = end;
      ++end;
    }
    if (word(end) == "]" && last_comma + 2 == end) {
      uint32_t first = range(enclosing_).end, last = range(last_comma).begin;
      p.fixes.push_back(fix("put the dims in parentheses", {{{first, first}, "("}, {{last, last}, ")"}}));
    }
    return p;
  }
  for (size_t back = 1; back <= 2 && back < at; ++back) {
    size_t bracket = at - back;
    if (word(bracket) != "[" || bracket == 0 || !is(bracket - 1, LexedKind::Name)) continue;
    std::string name(word(bracket - 1));
    if (!did_you_mean(name, {"Tensor"})) continue;
    SyntaxProblem p = problem(DiagnosticKind::UnknownType, range(bracket - 1),
                              fmt::format("unknown type `{}`; did you mean `Tensor`?", name));
    p.fixes.push_back(fix("write `Tensor`", {{range(bracket - 1), "Tensor"}}));
    return p;
  }
  return std::nullopt;
}

// --- words

std::optional<SyntaxProblem> Advisor::words() {
  if (auto p = declared_name()) return p;
  if (auto p = conditionals()) return p;
  if (auto p = definitions()) return p;
  if (auto p = bindings()) return p;
  size_t start = statement_start(), before = f_.at - 1;
  bool in_type = before > 0 && (word(before - 1) == ":" || word(before - 1) == "->");
  bool in_block = open_bracket() == "{" || (open_bracket().empty() && word(0) != "def" && word(0) != "op");
  if (word(f_.at) == "{" && word(start) == "extern" && word(start + 1) == "type") {
    auto p =
        here(DiagnosticKind::ForeignForm,
             "an `extern type` has no constructors: its values are made elsewhere; without `extern` it is a "
             "type with these constructors");
    p.fixes.push_back(fix("take `extern` away", {{{range(start).begin, range(start + 1).begin}, ""}}));
    return p;
  }
  if (word(f_.at) == "{" && is(before, LexedKind::Name) && !is_keyword(word(before)) && before > start &&
      in_block && !in_type)
    return here(DiagnosticKind::ForeignForm,
                fmt::format("a record is built as a constructor is called: `{}(field=…)`", word(before)));
  // The head of `lambda (%x) {`.
  size_t head = before;
  if (word(f_.at) == "{" && word(before) == ")") head = opener_before(f_.at) - 1;
  for (size_t i : {f_.at, before, start, head})
    if (i < f_.tokens.size())
      if (auto p = first_word(i)) return p;
  return std::nullopt;
}

// `op let(…)`, `type %x { … }`, `test { … }`: what is written instead of the name.
std::optional<SyntaxProblem> Advisor::declared_name() {
  if (f_.at != 1 || f_.tokens.size() < 2) return std::nullopt;
  std::string_view first = word(0);
  std::string now(word(1));
  if (first == "test" && (now == "{" || is(1, LexedKind::Name)))
    return here(DiagnosticKind::UnexpectedToken, "a test has a name in quotes: `test \"name\" { … }`");
  if (first == "static" && is(1, LexedKind::Name)) {
    uint32_t begin = range(1).begin;
    SyntaxProblem p = here(DiagnosticKind::MissingSigil,
                           fmt::format("a compile-time function begins with `@`: `static @{}(…)`", now));
    p.fixes.push_back(fix(fmt::format("write `@{}`", now), {{{begin, begin}, "@"}}));
    return p;
  }
  if (first != "op" && first != "type") return std::nullopt;
  std::string what = first == "op" ? "an operator" : "a type";
  if (is(1, LexedKind::Local) || is(1, LexedKind::Global)) {
    SyntaxProblem p =
        here(DiagnosticKind::UnexpectedToken,
             fmt::format("the name of {} has no `{}`: `{}`", what, now.substr(0, 1), now.substr(1)));
    p.fixes.push_back(fix(fmt::format("write `{}`", now.substr(1)), {{range(1), now.substr(1)}}));
    return p;
  }
  if (!is_keyword(now)) return std::nullopt;
  return here(DiagnosticKind::UnexpectedToken,
              fmt::format("`{}` is a word of the language; {} has another name", now, what));
}

std::optional<SyntaxProblem> Advisor::first_word(size_t i) {
  if (!is(i, LexedKind::Name)) return std::nullopt;
  std::string text(word(i));
  if (i == f_.at && ends_expression(i - 1) && text != "for") return std::nullopt;
  if (text == "for" && i == f_.at && !open_bracket().empty() && open_bracket() != "{") return std::nullopt;
  for (const WordRow& row : kForeignWords)
    if (row.word == text) return problem(DiagnosticKind::ForeignForm, range(i), std::string(row.advice));
  bool local = is(i + 1, LexedKind::Local), global = is(i + 1, LexedKind::Global);
  if (i + 1 != f_.at || i != statement_start()) return std::nullopt;
  if (!open_bracket().empty() && open_bracket() != "{") return std::nullopt;
  auto replace = [&](std::string_view meant, std::string message) {
    SyntaxProblem p = problem(DiagnosticKind::ForeignForm, range(i), std::move(message));
    p.fixes.push_back(fix(fmt::format("write `{}`", meant), {{range(i), std::string(meant)}}));
    return p;
  };
  if (local && one_of(kForeignLet, text))
    return replace("let", fmt::format("a variable is bound with `let`, not `{}`", text));
  if (is(i + 1, LexedKind::Name) && one_of(kForeignLet, text)) {
    uint32_t begin = range(i + 1).begin;
    SyntaxProblem p =
        problem(DiagnosticKind::ForeignForm, range(i),
                fmt::format("a variable is bound with `let %{} = …`, not `{}`", word(i + 1), text));
    p.fixes.push_back(
        fix(fmt::format("write `let %{}`", word(i + 1)), {{range(i), "let"}, {{begin, begin}, "%"}}));
    return p;
  }
  if (global && one_of(kForeignDef, text))
    return replace("def", fmt::format("a function is defined with `def`, not `{}`", text));
  if (auto dtype = local ? parse_dtype(text) : std::nullopt) {
    uint32_t end = range(i + 1).end;
    SyntaxProblem p =
        problem(DiagnosticKind::ForeignForm, range(i),
                fmt::format("a type stands after the name: `let {}: {} = …`", word(i + 1), text));
    if (word(i + 2) == "=")
      p.fixes.push_back(fix("write it so", {{range(i), "let"}, {{end, end}, ": " + text}}));
    return p;
  }
  std::vector<std::string> keywords;
  if (local) keywords = {"let", "free_var"};
  if (global) keywords = {"def", "static"};
  if (is(i + 1, LexedKind::String)) keywords = {"import", "test", "infix"};
  if (is(i + 1, LexedKind::Name)) keywords = {"op", "type", "def", "extern"};
  auto meant = did_you_mean(text, keywords);
  if (!meant) return std::nullopt;
  return replace(*meant, fmt::format("there is no `{}`; did you mean `{}`?", text, *meant));
}

}  // namespace quern
