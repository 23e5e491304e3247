// Syntax advice on words: conditionals, definitions, parameters and bindings as other languages write them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "frontend/advice/advice_impl.h"
#include "frontend/text/suggest.h"
#include "ir/type/dtype.h"

namespace quern {

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
  if (first == "def" && at == 2 && is(at, LexedKind::Local))
    return here(DiagnosticKind::UnexpectedToken,
                fmt::format("parameters stand in parentheses: `def {}(%x) {{ … }}`", word(1)));
  if (first == "op" && outermost && at > 2 && now == "{" && word(at - 1) == ")")
    return here(DiagnosticKind::UnexpectedToken,
                "an operator says its result before the body: `-> Tensor[…] { … }`");
  if (auto p = parameters()) return p;
  if ((first == "def" || first == "op") && outermost && at > 2)
    if (auto p = bodies()) return p;
  if (first == "type")
    if (auto p = constructors()) return p;
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

// What follows the parameters of a `def` or an `op`.
std::optional<SyntaxProblem> Advisor::bodies() {
  const size_t at = f_.at;
  const std::string_view now = word(at);
  if (now == ":" && (at + 1 == f_.tokens.size() || !same_line(at, at + 1)))
    return here(DiagnosticKind::ForeignForm,
                "a function is written `def @f(%x: int32) -> int32 { … }`: its body stands in braces");
  if (now == ":" || now == "=>") {
    SyntaxProblem p =
        here(DiagnosticKind::WrongArrow, fmt::format("the result type comes after `->`, not `{}`", now));
    p.fixes.push_back(fix("write `->`", {{range(at), "->"}}));
    return p;
  }
  if (now == "=") {
    SyntaxProblem p =
        here(DiagnosticKind::MissingBody, "the body of a definition stands in braces, without `=`: `{ … }`");
    uint32_t end = range(f_.tokens.size()).end;
    if (at + 1 < f_.tokens.size())
      p.fixes.push_back(fix("write braces", {{range(at), "{"}, {{end, end}, " }"}}));
    return p;
  }
  if (begins_expression(at) && now != "{" && !expects("]")) return body_without_braces();
  if (at == f_.tokens.size() && word(at - 1) != "->" && word(0) != "op")
    return here(DiagnosticKind::MissingBody, "this definition has no body yet: `{ … }`");
  return std::nullopt;
}

// `type Net = { … }`, and fields without a constructor.
std::optional<SyntaxProblem> Advisor::constructors() {
  const size_t at = f_.at;
  const std::string_view now = word(at);
  if (now == "{" && word(at - 1) == "=") {
    SyntaxProblem p =
        problem(DiagnosticKind::WrongEquals, range(at - 1),
                "a type with constructors is declared without `=`: `type Net { Net(weight: float32) }`");
    p.fixes.push_back(fix("take `=` away", {{{range(at - 2).end, range(at - 1).end}, ""}}));
    return p;
  }
  if (now == ":" && open_bracket() == "{") {
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
  if (now == "{" && open_bracket() == "{" && is(at - 1, LexedKind::Name)) {
    SyntaxProblem p = here(DiagnosticKind::UnexpectedToken,
                           fmt::format("the fields of a constructor stand in parentheses: `{}({}: …)`",
                                       word(at - 1), is(at + 1, LexedKind::Name) ? word(at + 1) : "x"));
    size_t close = at + 1;
    for (int depth = 1; close < f_.tokens.size(); ++close) {
      depth += word(close) == "{" ? 1 : word(close) == "}" ? -1 : 0;
      if (depth == 0) break;
    }
    if (close < f_.tokens.size())
      p.fixes.push_back(
          fix("write parentheses", {{{range(at - 1).end, range(at).end}, "("}, {range(close), ")"}}));
    return p;
  }
  return std::nullopt;
}

// `def @f(%x) %x`. The body is what stands on its line: what follows may be statements.
SyntaxProblem Advisor::body_without_braces() {
  SyntaxProblem p = here(DiagnosticKind::MissingBody, "the body of a definition stands in braces: `{ … }`");
  size_t last = f_.at;
  while (last + 1 < f_.tokens.size() && same_line(f_.at, last + 1)) ++last;
  const auto first = f_.tokens.begin();
  const std::vector<LexedToken> body(first + static_cast<ptrdiff_t>(f_.at),
                                     first + static_cast<ptrdiff_t>(last + 1));
  if (!ends_expression(last) || !brackets_match(body)) return p;
  const uint32_t begin = range(f_.at).begin, end = range(last).end;
  p.fixes.push_back(fix("write braces", {{{begin, begin}, "{ "}, {{end, end}, " }"}}));
  return p;
}

// In the `(…)` of a definition or a function literal, and after it.
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
  if ((now == "_" || now == "%_") && (word(at - 1) == "(" || word(at - 1) == ",")) {
    SyntaxProblem p =
        here(DiagnosticKind::ForeignForm, "a parameter that is not used has a name too: `%unused`");
    p.fixes.push_back(fix("write `%unused`", {{range(at), "%unused"}}));
    return p;
  }
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

// `a, b = …` and `let %a, %b = …`: names with commas between them and `=` behind, the first of which is at `first`.
std::optional<SyntaxProblem> Advisor::several_names(size_t first) {
  std::vector<std::pair<Range, std::string>> edits;
  std::string pattern;
  size_t i = first;
  for (;; i += 2) {
    const bool is_local = is(i, LexedKind::Local);
    if (!is_local && (!is(i, LexedKind::Name) || is_keyword(word(i)))) return std::nullopt;
    const uint32_t begin = range(i).begin;
    std::string before = i > first ? "" : first == statement_start() ? "let (" : "(";
    if (!is_local) before += "%";
    if (!before.empty()) edits.emplace_back(Range{begin, begin}, before);
    pattern += fmt::format("{}{}{}", i > first ? ", " : "", is_local ? "" : "%", word(i));
    if (word(i + 1) != ",") break;
  }
  if (i == first || word(i + 1) != "=") return std::nullopt;
  edits.emplace_back(Range{range(i).end, range(i).end}, ")");
  SyntaxProblem p = here(DiagnosticKind::ForeignForm,
                         fmt::format("several variables stand in parentheses: `let ({}) = …`", pattern));
  p.fixes.push_back(fix(fmt::format("write `let ({})`", pattern), std::move(edits)));
  return p;
}

// `let x = …`, `let mut %x = …`; nothing for a word of the language.
std::optional<SyntaxProblem> Advisor::name_after_let(size_t at) {
  const std::string name(word(at));
  if (one_of(kForeignLet, name) || name == "rec") {
    SyntaxProblem p =
        problem(DiagnosticKind::ForeignForm, range(at),
                fmt::format("`let` takes no `{}`: a variable is bound once, and may be shadowed", name));
    if (is(at + 1, LexedKind::Local))
      p.fixes.push_back(
          fix(fmt::format("take `{}` away", name), {{{range(at).begin, range(at + 1).begin}, ""}}));
    return p;
  }
  if (is_keyword(name)) return std::nullopt;
  const uint32_t begin = range(at).begin;
  SyntaxProblem p = problem(DiagnosticKind::MissingSigil, range(at),
                            fmt::format("a variable begins with `%`: `%{}`", name));
  if (name.find('.') == std::string::npos)
    p.fixes.push_back(fix(fmt::format("write `%{}`", name), {{{begin, begin}, "%"}}));
  return p;
}

std::optional<SyntaxProblem> Advisor::bindings() {
  size_t start = statement_start(), at = f_.at;
  std::string now(word(at));
  if (!open_bracket().empty() && open_bracket() != "{") return std::nullopt;
  // A bare name would begin a pattern, so the parser misses the bracket after it.
  if (word(start) == "let" && at == start + 2 && is(start + 1, LexedKind::Name))
    return name_after_let(start + 1);
  const bool has_let = word(start) == "let";
  if (now == "," && at == start + (has_let ? 2 : 1))
    if (auto p = several_names(at - 1)) return p;
  if (word(start) == "let" && at == start + 1) {
    if (is(at, LexedKind::Name)) return name_after_let(at);
    if (now == "=")
      return here(DiagnosticKind::UnexpectedToken, "unexpected `=`; expected a variable such as `%x`");
    if (is(at, LexedKind::Graph)) {
      SyntaxProblem p = here(DiagnosticKind::ForeignForm,
                             fmt::format("a numbered variable is bound without `let`: `{} = …`", now));
      p.fixes.push_back(fix("take `let` away", {{{range(start).begin, range(at).begin}, ""}}));
      return p;
    }
    if (is(at, LexedKind::Global))
      return here(DiagnosticKind::ForeignForm,
                  fmt::format("`let` binds a variable `%x`; a function is `def {}(…) {{ … }}`", now));
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
