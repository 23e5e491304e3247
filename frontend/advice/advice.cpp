#include "frontend/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "frontend/advice/advice_impl.h"
#include "frontend/text/suggest.h"

namespace quern {

namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

bool opens(const LexedToken& t) {
  return t.kind != LexedKind::String && !t.text.empty() &&
         (t.text == "(" || t.text == "{" || t.text.back() == '[');
}
bool closes(const LexedToken& t) { return t.text == ")" || t.text == "]" || t.text == "}"; }
std::string_view closer_of(std::string_view opener) {
  return opener.back() == '(' ? ")" : opener.back() == '[' ? "]" : "}";
}

/// The innermost open bracket at each token, and the first mismatched pair.
struct Brackets {
  explicit Brackets(const std::vector<LexedToken>& tokens) {
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens.size(); ++i) {
      enclosing.push_back(open.empty() ? kNone : open.back());
      if (closes(tokens[i])) {
        bool fits = !open.empty() && closer_of(tokens[open.back()].text) == tokens[i].text;
        if (!fits && wrong == kNone) {
          wrong = i;
          partner = open.empty() ? kNone : open.back();
        }
        if (!open.empty()) open.pop_back();
      }
      if (opens(tokens[i])) open.push_back(i);
    }
    enclosing.push_back(open.empty() ? kNone : open.back());
    unclosed = open;
  }
  std::vector<size_t> enclosing;  ///< by token: the innermost open bracket before it; one more for the end
  std::vector<size_t> unclosed;   ///< openers, outermost first
  size_t wrong = kNone;           ///< a mismatched closing bracket
  size_t partner = kNone;         ///< the opening bracket that it meets
};

}  // namespace

Advisor::Advisor(const SyntaxFailure& failure) : f_(failure) {
  Brackets brackets(f_.tokens);
  enclosing_ = brackets.enclosing[f_.at];
}

SyntaxProblem Advisor::problem(DiagnosticKind kind, Range range, std::string message) {
  return {kind, range, std::move(message), {}, {}};
}
SyntaxProblem Advisor::here(DiagnosticKind kind, std::string message) {
  return problem(kind, range(f_.at), std::move(message));
}
Note Advisor::note(Range range, std::string message) { return {Place{{}, range}, std::move(message)}; }
Fix Advisor::fix(std::string title, std::vector<std::pair<Range, std::string>> edits) {
  Fix made{std::move(title), {}};
  made.edits.reserve(edits.size());
  for (auto& edit : edits) made.edits.push_back({Place{{}, edit.first}, std::move(edit.second)});
  return made;
}

std::string_view Advisor::word(size_t i) const { return i < f_.tokens.size() ? f_.tokens[i].text : ""; }
bool Advisor::is(size_t i, LexedKind kind) const { return i < f_.tokens.size() && f_.tokens[i].kind == kind; }
Range Advisor::range(size_t i) const {
  if (i < f_.tokens.size()) return f_.tokens[i].range;
  uint32_t end = f_.tokens.empty() ? 0 : f_.tokens.back().range.end;
  return {end, end};
}
bool Advisor::expects(std::string_view what) const {
  return std::find(f_.expected.begin(), f_.expected.end(), what) != f_.expected.end();
}
bool Advisor::same_line(size_t a, size_t b) const {
  std::string_view between = f_.text.substr(range(a).end, range(b).begin - range(a).end);
  return between.find_first_of("\r\n") == std::string_view::npos;
}
std::string_view Advisor::open_bracket() const { return word(enclosing_); }

// The first token of the statement that contains the failure.
size_t Advisor::statement_start() const {
  size_t start = f_.at;
  int depth = 0;
  while (start > 0) {
    const LexedToken& before = f_.tokens[start - 1];
    if (closes(before)) ++depth;
    if (opens(before) && depth-- == 0) break;
    if (depth == 0 && before.text == ";") break;
    --start;
  }
  return start;
}

size_t Advisor::opener_before(size_t i) const {
  size_t open = i - 1;
  for (int depth = 1; depth > 0 && open > 0;) {
    --open;
    if (closes(f_.tokens[open])) ++depth;
    if (opens(f_.tokens[open])) --depth;
  }
  return open;
}

bool Advisor::ends_expression(size_t i) const {
  if (i >= f_.tokens.size()) return false;
  const LexedToken& t = f_.tokens[i];
  return (t.kind != LexedKind::Symbol && t.kind != LexedKind::Unknown && !is_keyword(t.text)) || closes(t) ||
         t.text == "True" || t.text == "False" || t.text == "None";
}
bool Advisor::begins_expression(size_t i) const {
  if (i >= f_.tokens.size()) return false;
  const LexedToken& t = f_.tokens[i];
  if (t.kind == LexedKind::Symbol || t.kind == LexedKind::Unknown) return opens(t);
  constexpr std::array<std::string_view, 9> kStarts{"let",  "if",    "match", "match?", "fn",
                                                    "True", "False", "None",  "meta"};
  return !is_keyword(t.text) || std::find(kStarts.begin(), kStarts.end(), t.text) != kStarts.end();
}

bool Advisor::is_keyword(std::string_view text) {
  constexpr std::array<std::string_view, 19> kKeywords{
      "let", "def", "fn",  "if",  "else",   "match",    "match?", "True", "False", "None",
      "and", "or",  "not", "for", "Tensor", "free_var", "_",      "in",   "is"};
  return std::find(kKeywords.begin(), kKeywords.end(), text) != kKeywords.end();
}

// --- brackets

std::optional<SyntaxProblem> Advisor::brackets() {
  Brackets b(f_.tokens);
  if (b.wrong != kNone && f_.at >= b.wrong) {
    std::string closer(word(b.wrong));
    if (b.partner == kNone)
      return problem(DiagnosticKind::MismatchedBracket, range(b.wrong),
                     fmt::format("this `{}` closes nothing: no bracket is open here", closer));
    std::string opener(word(b.partner)), wanted(closer_of(opener));
    SyntaxProblem p = problem(DiagnosticKind::MismatchedBracket, range(b.wrong),
                              fmt::format("`{}` cannot close `{}`; expected `{}`", closer, opener, wanted));
    p.notes.push_back(note(range(b.partner), fmt::format("this `{}` is open", opener)));
    std::vector<LexedToken> mended = f_.tokens;
    mended[b.wrong].text = wanted;
    if (brackets_match(mended))
      p.fixes.push_back(fix(fmt::format("write `{}`", wanted), {{range(b.wrong), wanted}}));
    return p;
  }
  // The bracket around the failure is never closed (or mismatched): that is the mistake.
  size_t open = enclosing_;
  bool unclosed = std::find(b.unclosed.begin(), b.unclosed.end(), open) != b.unclosed.end();
  bool met_wrong = b.wrong != kNone && b.partner == open;
  bool at_end = f_.at == f_.tokens.size();
  std::string wanted(open == kNone ? "" : closer_of(word(open)));
  if (open == kNone || !(unclosed || met_wrong) || !(at_end || expects(wanted) || word(f_.at) == ";"))
    return std::nullopt;
  SyntaxProblem p =
      problem(DiagnosticKind::OpenBracket, range(open), fmt::format("this `{}` is never closed", word(open)));
  if (!at_end) {
    p.notes.push_back(note(range(f_.at), fmt::format("`{}` is missing before this", wanted)));
    if (expects(wanted) && b.unclosed.size() == 1)
      p.fixes.push_back(
          fix(fmt::format("insert `{}`", wanted), {{{range(f_.at - 1).end, range(f_.at - 1).end}, wanted}}));
  } else if (b.unclosed.size() > 1) {
    p.notes.push_back(
        note(range(b.unclosed.front()),
             fmt::format("and {} around it, from this `{}` on",
                         b.unclosed.size() == 2 ? "one more" : fmt::format("{} more", b.unclosed.size() - 1),
                         word(b.unclosed.front()))));
  }
  return p;
}

// --- the fallback when no rule matches

std::optional<SyntaxProblem> Advisor::separators() {
  size_t at = f_.at;
  if (at == 0) return std::nullopt;
  Range after{range(at - 1).end, range(at - 1).end};
  std::string_view open = open_bracket();
  bool in_list = !open.empty() && open != "{";
  bool in_schedule = open == "{" && enclosing_ > 0 && word(enclosing_ - 1) == "schedule";
  if (word(at - 1) == "schedule" && expects("{") && begins_expression(at))
    return here(DiagnosticKind::UnexpectedToken,
                "the steps of a schedule stand in braces: `schedule { unroll(i) }`");
  if (in_schedule && word(at - 1) != ")" && begins_expression(at))
    return here(DiagnosticKind::UnexpectedToken, "a step takes its arguments in parentheses: `unroll(i)`");
  if (word(at) == ";" && (in_list || (open == "{" && expects(",")))) {
    SyntaxProblem p = here(DiagnosticKind::MissingComma,
                           fmt::format("`;` separates statements; inside `{}` write `,`", open));
    p.fixes.push_back(fix("write `,`", {{range(at), ","}}));
    return p;
  }
  if (!ends_expression(at - 1) || !begins_expression(at)) return std::nullopt;
  std::string next(word(at));
  if (in_list) {
    SyntaxProblem p = here(DiagnosticKind::MissingComma, fmt::format("expected `,` before `{}`", next));
    p.fixes.push_back(fix("insert `,`", {{after, ","}}));
    return p;
  }
  bool sigil = is(at, LexedKind::Local) || is(at, LexedKind::Graph);
  if (sigil && same_line(at - 1, at)) {
    // A remainder by a compile-time name follows such a name.
    std::string divisor = is(at, LexedKind::Graph) || is(at - 1, LexedKind::Name) ? next.substr(1) : next;
    SyntaxProblem p =
        here(DiagnosticKind::ForeignOperator,
             fmt::format("`{}` is a variable here; a remainder is written with blanks, `{} % {}`", next,
                         word(at - 1), divisor));
    p.notes.push_back(
        {std::nullopt, fmt::format("if two statements are meant, write `;` before `{}`", next)});
    p.fixes.push_back(fix(fmt::format("write `% {}`", divisor), {{range(at), "% " + divisor}}));
    return p;
  }
  std::string_view what = in_schedule ? "step" : "statement";
  SyntaxProblem p = problem(DiagnosticKind::MissingSemicolon, after,
                            fmt::format("a {} ends with `;`: it is missing before `{}`", what, next));
  p.notes.push_back(note(range(at), fmt::format("the next {} begins here", what)));
  p.fixes.push_back(fix("insert `;`", {{after, ";"}}));
  return p;
}

SyntaxProblem Advisor::general() {
  bool at_end = f_.at == f_.tokens.size();
  std::string text(word(f_.at));
  if (text.size() > 40) text = text.substr(0, 37) + "…";
  if (f_.wants_expression && !begins_expression(f_.at)) {
    std::string after = f_.at == 0 ? "" : fmt::format(" after `{}`", word(f_.at - 1));
    return here(DiagnosticKind::MissingOperand,
                at_end ? fmt::format("an expression is missing{}", after)
                       : fmt::format("expected an expression{}, found `{}`", after, text));
  }
  std::string message = at_end ? "the text ends too early" : fmt::format("unexpected `{}`", text);
  if (!f_.expectation.empty()) message += "; expected " + f_.expectation;
  return here(DiagnosticKind::UnexpectedToken, message);
}

SyntaxProblem advise(const SyntaxFailure& failure) {
  Advisor advisor(failure);
  if (auto p = advisor.characters()) return *p;
  if (auto p = advisor.types()) return *p;
  if (auto p = advisor.declarations()) return *p;
  if (auto p = advisor.words()) return *p;
  if (auto p = advisor.operators()) return *p;
  if (auto p = advisor.brackets()) return *p;
  if (auto p = advisor.separators()) return *p;
  return advisor.general();
}

// Whether the `{` at `open` contains statements, rather than constructors of a type or arms of a match.
static bool holds_statements(const std::vector<LexedToken>& tokens, const Brackets& b, size_t open) {
  if (tokens[0].text == "type") return false;
  for (size_t i = open; i-- > 0 && i != b.enclosing[open];) {
    if (b.enclosing[i] != b.enclosing[open]) continue;
    if (tokens[i].text == "match" || tokens[i].text == "match?") return false;
    if (tokens[i].text == ";" || tokens[i].text == "=") return true;
  }
  return true;
}

bool statement_between(const std::vector<LexedToken>& tokens, size_t from, size_t to) {
  Brackets b(tokens);
  for (size_t i = from; i < to; ++i) {
    if (tokens[i].text != ";") continue;
    size_t open = b.enclosing[i];
    if (open == kNone || (tokens[open].text == "{" && holds_statements(tokens, b, open))) return true;
  }
  return false;
}

bool brackets_match(const std::vector<LexedToken>& tokens) {
  Brackets b(tokens);
  return b.wrong == kNone && b.unclosed.empty();
}

}  // namespace quern
