// The rules on characters, types and words that come from other languages or were left out.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "frontend/suggest.h"
#include "frontend/syntax_advice_impl.h"
#include "ir/dtype.h"

namespace quern {

namespace {

struct CharacterRow {
  std::string_view text, name, replacement;
};
// Look-alikes of characters that the language has.
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
// Statements of other languages: what is written here.
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
constexpr std::array<std::string_view, 8> kForeignLet{"var",   "val", "const", "auto",
                                                      "local", "set", "my",    "mut"};
constexpr std::array<std::string_view, 7> kForeignDef{"fun",  "func", "function", "fn",
                                                      "defn", "proc", "define"};

template <size_t N>
bool one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

// --- characters
// -----------------------------------------------------------------------------------------------------

std::optional<SyntaxProblem> Advisor::characters() {
  if (!is(f_.at, LexedKind::Unknown)) return std::nullopt;
  std::string text(word(f_.at));
  Range at = range(f_.at);
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
                "there is no operator `@`: a matrix product is `nn.dense(%x, %w)`, with the weight as "
                "(outputs, inputs)");
  if (text == "'") {
    size_t close = f_.text.find_first_of("'\r\n", at.end);
    SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, "a string stands in double quotes: `\"…\"`");
    if (close != std::string_view::npos && f_.text[close] == '\'' &&
        f_.text.substr(at.end, close - at.end).find_first_of("\"\\") == std::string_view::npos) {
      auto end = static_cast<uint32_t>(close);
      p.fixes.push_back(fix("write double quotes", {{at, "\""}, {{end, end + 1}, "\""}}));
    }
    return p;
  }
  if (text == "#" && word(f_.at + 1) == "[")
    return here(
        DiagnosticKind::UnknownCharacter,
        "the version `#[version = …]` stands at the top of a file, `#[metadata]` in a line of its own "
        "before its end");
  if (text == "#") {
    SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, "a comment begins with `//`");
    p.fixes.push_back(fix("write `//`", {{at, "//"}}));
    return p;
  }
  if (text == "$") {
    SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, "a variable begins with `%`: `%x`");
    p.fixes.push_back(fix("write `%`", {{at, "%"}}));
    return p;
  }
  if (text == "\\") {
    SyntaxProblem p = here(DiagnosticKind::UnknownCharacter,
                           "no `\\` is needed: a line's end means nothing, a statement goes on to its `;`");
    p.fixes.push_back(fix("take the `\\` away", {{at, ""}}));
    return p;
  }
  for (const CharacterRow& row : kLookAlikes) {
    if (row.text != text) continue;
    std::string what = row.replacement.empty() ? "take it away" : fmt::format("write `{}`", row.replacement);
    SyntaxProblem p = here(DiagnosticKind::UnknownCharacter, fmt::format("this is {}; {}", row.name, what));
    std::vector<std::pair<Range, std::string>> edits{{at, std::string(row.replacement)}};
    // The partner of a quote goes with it.
    if (row.replacement == "\"")
      for (size_t i = f_.at + 1; i < f_.tokens.size() && same_line(f_.at, i); ++i)
        for (const CharacterRow& other : kLookAlikes)
          if (edits.size() == 1 && other.replacement == "\"" && other.text == word(i))
            edits.emplace_back(range(i), "\"");
    p.fixes.push_back(fix(what, std::move(edits)));
    return p;
  }
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
// ----------------------------------------------------------------------------------------------------------

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
// ----------------------------------------------------------------------------------------------------------

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

// `op let(…)`, `type %x { … }`, `test { … }`: what stands in the place of the name.
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

std::optional<SyntaxProblem> Advisor::conditionals() {
  size_t at = f_.at;
  std::string_view now = word(at), before = at > 0 ? word(at - 1) : "";
  constexpr std::string_view kForm = "`if (condition) { … } else { … }`";
  if (now == "elif" || now == "elseif" || now == "elsif") {
    SyntaxProblem p = here(DiagnosticKind::IncompleteIf, fmt::format("`{}` is written `else if`", now));
    p.fixes.push_back(fix("write `else if`", {{range(at), "else if"}}));
    return p;
  }
  if (before == "if" && expects("(")) {
    SyntaxProblem p = here(DiagnosticKind::IncompleteIf,
                           fmt::format("the condition of `if` stands in parentheses: {}", kForm));
    size_t end = at;
    while (end < f_.tokens.size() && word(end) != "{" && word(end) != ";" && word(end) != "}") ++end;
    if (word(end) == "{" && end > at) {
      uint32_t first = range(at).begin, last = range(end - 1).end;
      p.fixes.push_back(fix("insert the parentheses", {{{first, first}, "("}, {{last, last}, ")"}}));
    }
    return p;
  }
  if (f_.expected.size() == 1 && expects("else"))
    return here(DiagnosticKind::IncompleteIf,
                fmt::format("an `if` is a value and needs an `else`: {}", kForm));
  bool after_condition = before == ")" || before == "else";
  if (after_condition && expects("{") && statement_start() < at) {
    for (size_t i = statement_start(); i < at; ++i)
      if (word(i) == "if")
        return here(DiagnosticKind::IncompleteIf, fmt::format("the arms of `if` stand in braces: {}", kForm));
  }
  if (now == "else" && f_.wants_expression)
    return here(DiagnosticKind::IncompleteIf, fmt::format("this `else` has no `if` before it: {}", kForm));
  if (now == "if" && at > 0 && ends_expression(at - 1) && same_line(at - 1, at))
    return here(DiagnosticKind::IncompleteIf, fmt::format("the condition comes first: {}", kForm));
  if (now == "?" && at > 0 && ends_expression(at - 1))
    return here(DiagnosticKind::ForeignOperator, fmt::format("a choice is written {}", kForm));
  return std::nullopt;
}

std::optional<SyntaxProblem> Advisor::definitions() {
  size_t at = f_.at;
  std::string_view first = word(0), now = word(at);
  bool outermost = open_bracket().empty();
  auto arrow = [&] {
    SyntaxProblem p =
        here(DiagnosticKind::WrongArrow, fmt::format("the result type comes after `->`, not `{}`", now));
    p.fixes.push_back(fix("write `->`", {{range(at), "->"}}));
    return p;
  };
  if (first == "def" && at == 2 && is(at, LexedKind::Local))
    return here(DiagnosticKind::UnexpectedToken,
                fmt::format("parameters stand in parentheses: `def {}(%x) {{ … }}`", word(1)));
  if (first == "op" && outermost && at > 2 && now == "{" && word(at - 1) == ")")
    return here(DiagnosticKind::UnexpectedToken,
                "an operator says its result before the body: `-> Tensor[…] { … }`");
  if (auto p = parameters()) return p;
  if ((first == "def" || first == "op") && outermost && at > 2) {
    if (now == ":" && (at + 1 == f_.tokens.size() || !same_line(at, at + 1)))
      return here(DiagnosticKind::ForeignForm,
                  "a function is written `def @f(%x: int32) -> int32 { … }`: its body stands in braces");
    if (now == ":" || now == "=>") return arrow();
    if (now == "=") {
      SyntaxProblem p = here(DiagnosticKind::MissingBody,
                             "the body of a definition stands in braces, without `=`: `{ … }`");
      uint32_t end = range(f_.tokens.size()).end;
      if (at + 1 < f_.tokens.size())
        p.fixes.push_back(fix("write braces", {{range(at), "{"}, {{end, end}, " }"}}));
      return p;
    }
    if (begins_expression(at) && now != "{" && !expects("]"))
      return here(DiagnosticKind::MissingBody, "the body of a definition stands in braces: `{ … }`");
    if (at == f_.tokens.size() && word(at - 1) != "->" && !(first == "op"))
      return here(DiagnosticKind::MissingBody, "this definition has no body yet: `{ … }`");
  }
  if (first == "type" && now == "=")
    return here(DiagnosticKind::WrongEquals,
                "a type is declared without `=`: `type Net { Net(weight: float32) }`");
  if (first == "type" && now == ":" && open_bracket() == "{") {
    std::string name(word(1));
    SyntaxProblem p =
        here(DiagnosticKind::UnexpectedToken,
             fmt::format("fields stand in a constructor: `type {0} {{ {0}({1}: …) }}`", name, word(at - 1)));
    uint32_t begin = range(enclosing_).end;
    const LexedToken& last = f_.tokens.back();
    if (last.text == "}" && at == enclosing_ + 2)
      p.fixes.push_back(
          fix(fmt::format("put the fields in a constructor `{}`", name),
              {{{begin, begin}, " " + name + "("}, {{last.range.begin, last.range.begin}, ")"}}));
    return p;
  }
  bool head = is(0, LexedKind::Global) && word(1) == "(";
  if (head && ((now == ":" && open_bracket() == "(") || (outermost && (now == "->" || now == "{")))) {
    uint32_t begin = range(0).begin;
    SyntaxProblem p = problem(DiagnosticKind::ForeignForm, range(0),
                              fmt::format("a function is defined with `def`: `def {}(…) {{ … }}`", word(0)));
    p.fixes.push_back(fix("insert `def`", {{{begin, begin}, "def "}}));
    return p;
  }
  if (first == "import" && at == 1)
    return here(DiagnosticKind::ForeignForm,
                "`import` takes a file in quotes: `import \"layers.relay\" as layers`; the library is always "
                "in scope");
  return std::nullopt;
}

// In `(…)` of a definition or a function literal, and what follows it.
std::optional<SyntaxProblem> Advisor::parameters() {
  size_t at = f_.at, open = enclosing_;
  std::string_view first = word(0), now = word(at);
  if (first != "def" && first != "op" && expects("->") && expects("{") && word(at - 1) == ")" && now != "=>")
    return here(DiagnosticKind::MissingBody, "the body of a function stands in braces: `fn (%x) { … }`");
  bool declares = (first == "def" || first == "op") && open_bracket() == "(" &&
                  std::find_if(f_.tokens.begin(), f_.tokens.end(), [](const LexedToken& t) {
                    return t.text == "(";
                  }) == f_.tokens.begin() + static_cast<ptrdiff_t>(open);
  if (!declares && !(open_bracket() == "(" && open > 0 && word(open - 1) == "fn")) return std::nullopt;
  if (now == "=" && !expects("=="))
    return here(DiagnosticKind::WrongEquals,
                "a parameter has no default value; an attribute has one, and no `%`: `k: int = 1`");
  if (word(at - 1) == ":" && is(at - 2, LexedKind::Name) && (now == "Tensor" || now == "(" || now == "fn")) {
    uint32_t begin = range(at - 2).begin;
    SyntaxProblem p = problem(DiagnosticKind::MissingSigil, range(at - 2),
                              fmt::format("a parameter begins with `%`: `%{}`", word(at - 2)));
    p.fixes.push_back(fix(fmt::format("write `%{}`", word(at - 2)), {{{begin, begin}, "%"}}));
    return p;
  }
  return std::nullopt;
}

std::optional<SyntaxProblem> Advisor::bindings() {
  size_t start = statement_start(), at = f_.at;
  std::string now(word(at));
  if (!open_bracket().empty() && open_bracket() != "{") return std::nullopt;
  if (word(start) == "let" && at == start + 1) {
    if (is(at, LexedKind::Name) && (one_of(kForeignLet, now) || now == "rec")) {
      SyntaxProblem p =
          here(DiagnosticKind::ForeignForm,
               fmt::format("`let` takes no `{}`: a variable is bound once, and may be shadowed", now));
      if (is(at + 1, LexedKind::Local))
        p.fixes.push_back(
            fix(fmt::format("take `{}` away", now), {{{range(at).begin, range(at + 1).begin}, ""}}));
      return p;
    }
    if (is(at, LexedKind::Name) && !is_keyword(now)) {
      uint32_t begin = range(at).begin;
      SyntaxProblem p =
          here(DiagnosticKind::MissingSigil, fmt::format("a variable begins with `%`: `%{}`", now));
      if (now.find('.') == std::string::npos)
        p.fixes.push_back(fix(fmt::format("write `%{}`", now), {{{begin, begin}, "%"}}));
      return p;
    }
    if (is(at, LexedKind::Graph)) {
      SyntaxProblem p = here(DiagnosticKind::ForeignForm,
                             fmt::format("a numbered variable is bound without `let`: `{} = …`", now));
      p.fixes.push_back(fix("take `let` away", {{{range(start).begin, range(at).begin}, ""}}));
      return p;
    }
    if (is(at, LexedKind::Global))
      return here(DiagnosticKind::ForeignForm,
                  fmt::format("`let` binds a variable `%x`; a function is `def {}(…) {{ … }}`", now));
    if (now == "(")
      return here(DiagnosticKind::ForeignForm,
                  "`let` binds one variable: bind the tuple and take its fields, `let %t = …; %t.0`");
  }
  if (word(start) == "let" && at == start + 2 && (now == "==" || now == ":=")) {
    SyntaxProblem p = here(DiagnosticKind::WrongEquals, fmt::format("`let` binds with `=`, not `{}`", now));
    p.fixes.push_back(fix("write `=`", {{range(at), "="}}));
    return p;
  }
  if (word(start) == "let" && at == start + 2 && is(start + 1, LexedKind::Local) && begins_expression(at)) {
    Range after{range(at - 1).end, range(at - 1).end};
    SyntaxProblem p =
        here(DiagnosticKind::WrongEquals, fmt::format("`=` is missing: `let {} = …`", word(start + 1)));
    p.fixes.push_back(fix("insert `=`", {{after, " ="}}));
    return p;
  }
  if (at != start + 1) return std::nullopt;
  bool local = is(start, LexedKind::Local), name = is(start, LexedKind::Name) && !is_keyword(word(start));
  if (now == "=" && (local || name) && word(start).find('.') == std::string_view::npos) {
    uint32_t begin = range(start).begin;
    std::string variable = (local ? "" : "%") + std::string(word(start));
    SyntaxProblem p =
        here(DiagnosticKind::WrongEquals, fmt::format("a variable is bound with `let {} = …`", variable));
    p.fixes.push_back(
        fix(fmt::format("write `let {}`", variable), {{{begin, begin}, local ? "let " : "let %"}}));
    return p;
  }
  bool updates =
      now == "+=" || now == "*=" || ((now == "-" || now == "/" || now == "+") && word(at + 1) == "=");
  if (updates && (local || name))
    return here(DiagnosticKind::ForeignOperator,
                fmt::format("a variable does not change; bind it anew: `let {0} = {0} {1} …`", word(start),
                            now.substr(0, 1)));
  return std::nullopt;
}

}  // namespace quern
