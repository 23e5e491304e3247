// The rules on declarations and their clauses, on matches, counters and index names.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/advice/advice_impl.h"

namespace quern {

std::optional<SyntaxProblem> Advisor::declarations() {
  if (f_.at == 0) return std::nullopt;
  if (auto p = imports()) return p;
  if (auto p = clauses()) return p;
  if (auto p = binders()) return p;
  size_t at = f_.at;
  std::string_view now = word(at), before = word(at - 1);
  if (word(0) == "test" && is(1, LexedKind::String) && at == 2 && now != "{")
    return here(DiagnosticKind::MissingBody, "the body of a test stands in braces: `test \"name\" { … }`");
  if (before == "<" && now == ">" && at > 1 && (is(at - 2, LexedKind::Global) || is(at - 2, LexedKind::Name)))
    return problem(
        DiagnosticKind::UnexpectedToken, {range(at - 1).begin, range(at).end},
        fmt::format("between `<` and `>` stand type arguments, as in `{}<int32>(…)`", word(at - 2)));
  if (expects("{") && before != ")" && last_open_word({"match", "match?", "fn", "if"}).starts_with("match"))
    return here(DiagnosticKind::UnexpectedToken,
                "the arms of a `match` stand in braces: `match (%x) { pattern => …, … }`");
  return std::nullopt;
}

// The last of some words before the failure, with no bracket in between; "" if there is none.
std::string_view Advisor::last_open_word(std::initializer_list<std::string_view> words) const {
  for (size_t i = f_.at; i > statement_start();) {
    --i;
    std::string_view text = word(i);
    if (text == ")" || text == "]" || text == "}") i = opener_before(i + 1);
    if (std::ranges::find(words, text) != words.end()) return text;
  }
  return "";
}

std::optional<SyntaxProblem> Advisor::imports() {
  size_t at = f_.at;
  if (word(0) != "import" || at != 3 || word(2) != "as") return std::nullopt;
  if (at == f_.tokens.size())
    return problem(DiagnosticKind::UnexpectedToken, range(2),
                   "after `as` stands the name of the import: `as layers`");
  if (!is(at, LexedKind::Global) && !is(at, LexedKind::Local)) return std::nullopt;
  std::string name(word(at).substr(1));
  SyntaxProblem p =
      here(DiagnosticKind::UnexpectedToken,
           fmt::format("the name of an import has no `{}`: `as {}`", word(at).substr(0, 1), name));
  p.fixes.push_back(fix(fmt::format("write `{}`", name), {{range(at), name}}));
  return p;
}

// `where n > 0 : message`, `static = 1`, a clause after the body, a word that is not a clause.
std::optional<SyntaxProblem> Advisor::clauses() {
  size_t at = f_.at;
  std::string_view now = word(at), before = word(at - 1);
  if (now == "where" && last_open_word({"->", "=", ";", "{"}) == "->" &&
      (word(statement_start()) == "let" || open_bracket() == "("))
    return here(
        DiagnosticKind::UnexpectedToken,
        "a function's type states no condition; `where` stands after the result type of a `def` or an `op`");
  bool declares = word(0) == "def" || word(0) == "op" || word(0) == "extern";
  if (!declares || !open_bracket().empty() || at == f_.tokens.size()) return std::nullopt;
  constexpr std::array<std::string_view, 6> kClauses{"where", "static",   "gradient",
                                                     "shape", "lowering", "schedule"};
  if (before == ":" && last_open_word({"where", "static", "->", "{"}) == "where")
    return here(DiagnosticKind::UnexpectedToken,
                "the message of a constraint is a string: `where n > 0 : \"takes one element at least\"`");
  if (before == "static" && now == "=")
    return here(DiagnosticKind::UnexpectedToken, "a `static` clause gives its value a name: `static k = …`");
  if (at > 1 && word(at - 2) == "lowering" && is(at - 1, LexedKind::String) && now != "needs")
    return here(
        DiagnosticKind::UnexpectedToken,
        "`lowering` says which features of the machine it takes: `lowering \"llvm.…\" needs \"avx2\"`");
  bool is_clause = std::ranges::find(kClauses, now) != kClauses.end();
  if (before == "}" && is_clause)
    return here(DiagnosticKind::UnexpectedToken,
                fmt::format("a clause stands before the body: `… {} … {{ … }}`", now));
  bool two_values = is(at, LexedKind::Name) && !is_keyword(now) && !is_clause &&
                    (is(at + 1, LexedKind::Name) || is(at + 1, LexedKind::Number));
  if (two_values && ends_expression(at - 1))
    return here(DiagnosticKind::UnexpectedToken,
                fmt::format("there is no clause `{}`; the clauses are {} and `when`", now,
                            fmt::format("`{}`", fmt::join(kClauses, "`, `"))));
  return std::nullopt;
}

// `(%a for %k < 2)`, `[%i < 3] => 1`
std::optional<SyntaxProblem> Advisor::binders() {
  size_t at = f_.at;
  if (word(at - 1) == "for" && is(at, LexedKind::Local))
    return here(DiagnosticKind::UnexpectedToken,
                fmt::format("a counter has no `%`: `(… for {} < n)`", word(at).substr(1)));
  if (word(at) != "=>" || word(at - 1) != "]") return std::nullopt;
  size_t first = opener_before(at) + 1;
  if (word(first - 1) != "[" || !is(first, LexedKind::Local)) return std::nullopt;
  return problem(DiagnosticKind::UnexpectedToken, range(first),
                 fmt::format("an index has no `%`: `[{} < n] => …`", word(first).substr(1)));
}

bool inside_brackets(const std::vector<LexedToken>& tokens, size_t at) {
  int depth = 0;
  for (size_t i = 0; i < at; ++i) {
    std::string_view text = tokens[i].kind == LexedKind::String ? "" : tokens[i].text;
    if (text == "(" || text == "{" || text.ends_with("[")) ++depth;
    if (text == ")" || text == "}" || text == "]") --depth;
  }
  return depth > 0;
}

}  // namespace quern
