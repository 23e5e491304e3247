// The rules on operators, numbers, reductions, `=` and arrows.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "frontend/advice/advice_impl.h"

namespace quern {

std::optional<SyntaxProblem> Advisor::operators() {
  if (auto p = numbers()) return p;
  if (auto p = literals_in_patterns()) return p;
  if (auto p = equals()) return p;
  if (auto p = arrows()) return p;
  size_t at = f_.at;
  if (at == 0) return std::nullopt;
  std::string now(word(at)), before(word(at - 1));
  bool adjacent = range(at).begin == range(at - 1).end;
  if (now == "*" && before == "*" && adjacent)
    return problem(DiagnosticKind::ForeignOperator, {range(at - 1).begin, range(at).end},
                   "there is no operator `**`: a power is `power(%x, %y)`");
  if (now == "+" && before == "+" && adjacent)
    return problem(DiagnosticKind::ForeignOperator, {range(at - 1).begin, range(at).end},
                   "there is no `++`: a variable does not change; bind it anew with `let`");
  if (auto p = reductions()) return p;
  if (now == "in" && word(statement_start()) == "let") {
    SyntaxProblem p = here(DiagnosticKind::ForeignForm, "a `let` ends with `;`, not with `in`");
    p.fixes.push_back(fix("write `;`", {{{range(at - 1).end, range(at).end}, ";"}}));
    return p;
  }
  if ((now == "is" || now == "in" || now == "xor" || now == "div" || now == "mod") &&
      ends_expression(at - 1)) {
    std::string meant = now == "is"    ? "values are compared with `==`"
                        : now == "in"  ? "there is no membership test"
                        : now == "xor" ? "write `logical_xor(%a, %b)`"
                        : now == "div" ? "write `/`"
                                       : "write `%` between blanks";
    return here(DiagnosticKind::ForeignOperator, fmt::format("there is no operator `{}`: {}", now, meant));
  }
  return std::nullopt;
}

// `sum [k] %x[k]`, `mean[k] %x[k]`, `scan[k <= i] %x[k]`
std::optional<SyntaxProblem> Advisor::reductions() {
  constexpr std::array<std::string_view, 8> kReductions{"sum",    "prod",   "max", "min",
                                                        "argmax", "argmin", "any", "all"};
  if (!is(f_.at, LexedKind::Local) || word(f_.at - 1) != "]") return std::nullopt;
  size_t open = opener_before(f_.at);
  if (word(open) == "scan[")
    return here(DiagnosticKind::MissingOperand, "a scan says what it runs with: `scan[k <= i] + …`");
  if (open == 0 || !is(open - 1, LexedKind::Name)) return std::nullopt;
  std::string name(word(open - 1));
  if (std::find(kReductions.begin(), kReductions.end(), name) == kReductions.end())
    return problem(DiagnosticKind::UnexpectedToken, range(open - 1),
                   fmt::format("there is no reduction `{}[…]`; the reductions are {}", name,
                               fmt::join(kReductions, ", ")));
  SyntaxProblem p = problem(DiagnosticKind::UnexpectedToken, {range(open - 1).begin, range(open).end},
                            fmt::format("`{}[` is one word: no blank stands before its bracket", name));
  p.fixes.push_back(fix("take the blank away", {{{range(open - 1).end, range(open).begin}, ""}}));
  return p;
}

std::optional<SyntaxProblem> Advisor::numbers() {
  size_t at = f_.at;
  bool adjacent = at > 0 && at < f_.tokens.size() && range(at).begin == range(at - 1).end;
  if (adjacent && is(at - 1, LexedKind::Number) && is(at, LexedKind::Name)) {
    Range whole{range(at - 1).begin, range(at).end};
    std::string text = std::string(word(at - 1)) + std::string(word(at)), plain;
    std::copy_if(text.begin(), text.end(), std::back_inserter(plain), [](char c) { return c != '_'; });
    SyntaxProblem p =
        problem(DiagnosticKind::MalformedLiteral, whole, fmt::format("`{}` is no number", text));
    bool grouped =
        std::all_of(plain.begin(), plain.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (grouped) {
      p.message += "; its digits are written without `_`";
      p.fixes.push_back(fix(fmt::format("write `{}`", plain), {{whole, plain}}));
    } else if (text.back() == 'e' || text.back() == 'E') {
      p.message += "; an exponent has digits, as in `1e3`";
    } else if (text.starts_with("0x") || text.starts_with("0b") || text.starts_with("0o")) {
      p.message += "; integers are written in decimal digits";
    } else {
      p.message += "; suffixes are `i`, `u` and `f` with the bits: `1i64`, `2u8`, `3f16`";
    }
    return p;
  }
  if (f_.wants_expression && is(at, LexedKind::Number) && word(at).starts_with(".")) {
    uint32_t begin = range(at).begin;
    SyntaxProblem p = here(DiagnosticKind::MalformedLiteral, "a number has digits before its point");
    p.fixes.push_back(fix(fmt::format("write `0{}`", word(at)), {{{begin, begin}, "0"}}));
    return p;
  }
  return std::nullopt;
}

// Whether the failure is between the brackets on the left of a `let`.
bool Advisor::in_pattern_of_let() const {
  size_t let = f_.at;
  while (let > 0 && word(let) != "let") --let;
  if (word(let) != "let") return false;
  int depth = 0;
  for (size_t i = let + 1; i < f_.at; ++i) {
    if (word(i) == "(") ++depth;
    if (word(i) == ")") --depth;
    if (depth == 0 && !is(i, LexedKind::Name) && word(i) != ")") return false;
  }
  return depth > 0;
}

std::optional<SyntaxProblem> Advisor::literals_in_patterns() {
  const size_t at = f_.at;
  const bool is_literal = is(at, LexedKind::Number) || is(at, LexedKind::String) || word(at) == "True" ||
                          word(at) == "False" || (word(at) == "-" && is(at + 1, LexedKind::Number));
  if (!is_literal || f_.wants_expression) return std::nullopt;
  const bool in_arm = expects("_") && !expects("Tensor");
  if (!in_pattern_of_let() && !in_arm) return std::nullopt;
  return here(
      DiagnosticKind::ForeignForm,
      "a pattern has no literals: it is a variable, `_`, a tuple or a constructor of these; values are "
      "compared with `if`");
}

std::optional<SyntaxProblem> Advisor::equals() {
  size_t at = f_.at;
  std::string_view now = word(at), open = open_bracket();
  if (now == "=" && at > 0 && word(at - 1) == "==") {
    SyntaxProblem p = problem(DiagnosticKind::WrongEquals, {range(at - 1).begin, range(at).end},
                              "values are compared with `==`");
    p.fixes.push_back(fix("write `==`", {{range(at), ""}}));
    return p;
  }
  if (now == "=" && at > 0 && word(at - 1) == "]" && is(statement_start(), LexedKind::Local) &&
      statement_start() + 1 == opener_before(at))
    return here(DiagnosticKind::ForeignForm,
                "a tensor does not change: another one is `where(%mask, %new, %x)`, or an index expression "
                "`[i < n] => …`");
  const bool in_let = in_pattern_of_let();
  const bool in_pattern = in_let || (!f_.expected.empty() && !expects("=="));
  if (now == "=" && open == "(" && in_pattern && is(at - 1, LexedKind::Name))
    return here(DiagnosticKind::WrongEquals,
                "the fields of a tuple have no names: a pattern has them in their order");
  if (now == "=" && (open == "(" || open == "[") && !in_let && at > 0 && ends_expression(at - 1)) {
    SyntaxProblem p = here(DiagnosticKind::WrongEquals, "values are compared with `==`; `=` only binds");
    p.fixes.push_back(fix("write `==`", {{range(at), "=="}}));
    return p;
  }
  if (now == ":" && open == "(" && at > 0 && is(at - 1, LexedKind::Name) && enclosing_ > 0 &&
      word(0) != "def" && word(0) != "op") {
    SyntaxProblem p = here(DiagnosticKind::WrongEquals,
                           fmt::format("an attribute is given with `=`: `{}=…`", word(at - 1)));
    p.fixes.push_back(fix("write `=`", {{range(at), "="}}));
    return p;
  }
  return std::nullopt;
}

std::optional<SyntaxProblem> Advisor::arrows() {
  size_t at = f_.at;
  std::string_view now = word(at), before = at > 0 ? word(at - 1) : "";
  if (now == "->" && (before == "]" || expects("=>"))) {
    SyntaxProblem p =
        here(DiagnosticKind::WrongArrow, "what an index or a pattern leads to comes after `=>`, not `->`");
    p.fixes.push_back(fix("write `=>`", {{range(at), "=>"}}));
    return p;
  }
  if (now == "=>" && before != "]")
    return here(DiagnosticKind::WrongArrow,
                "`=>` follows index names `[i < n]` or a pattern; a function literal is `fn (%x) { … }`");
  return std::nullopt;
}

}  // namespace quern
