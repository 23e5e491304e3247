#pragma once
// The rules of syntax advice. Internal to frontend/advice; the entry point is frontend/advice/advice.h.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "frontend/advice/advice.h"

namespace quern {

/// Words that bind a variable in other languages.
inline constexpr std::array<std::string_view, 8> kForeignLet{"var",   "val", "const", "auto",
                                                             "local", "set", "my",    "mut"};

template <size_t N>
bool one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Each rule examines the tokens around the failure and answers if it recognises the mistake.
class Advisor {
 public:
  explicit Advisor(const SyntaxFailure& failure);

  std::optional<SyntaxProblem> characters();  ///< not in the language
  std::optional<SyntaxProblem> foreign_symbol(std::string_view text, Range at);
  SyntaxProblem single_quote(Range at);
  std::optional<SyntaxProblem> look_alike(std::string_view text, Range at);
  std::optional<SyntaxProblem> types();         ///< `Tensr[…]`, `Tensor(…)`
  std::optional<SyntaxProblem> declarations();  ///< imports, clauses, bodies without braces, a misplaced `%`
  std::optional<SyntaxProblem> words();         ///< keywords of other languages, misspelt ones, missing ones
  std::optional<SyntaxProblem> operators();     ///< `&&`, `=` for `==`, `->` for `=>`
  std::optional<SyntaxProblem> brackets();
  std::optional<SyntaxProblem> separators();
  SyntaxProblem general();

 private:
  static SyntaxProblem problem(DiagnosticKind kind, Range range, std::string message);
  SyntaxProblem here(DiagnosticKind kind, std::string message);
  static Note note(Range range, std::string message);
  static Fix fix(std::string title, std::vector<std::pair<Range, std::string>> edits);

  std::string_view word(size_t i) const;  ///< "" past the end
  bool is(size_t i, LexedKind kind) const;
  Range range(size_t i) const;  ///< empty, at the end of the text, past the last token
  bool expects(std::string_view what) const;
  bool same_line(size_t a, size_t b) const;
  std::string_view open_bracket() const;  ///< enclosing the failure; "" if none is open
  size_t opener_before(size_t i) const;   ///< of the closing bracket right before token i
  size_t statement_start() const;
  std::string_view last_open_word(std::initializer_list<std::string_view> words) const;
  bool ends_expression(size_t i) const;
  bool begins_expression(size_t i) const;
  static bool is_keyword(std::string_view text);

  // declarations
  std::optional<SyntaxProblem> imports();
  std::optional<SyntaxProblem> clauses();
  std::optional<SyntaxProblem> binders();
  // words
  std::optional<SyntaxProblem> declared_name();
  std::optional<SyntaxProblem> first_word(size_t start);
  std::optional<SyntaxProblem> conditionals();
  std::optional<SyntaxProblem> definitions();
  std::optional<SyntaxProblem> bodies();
  std::optional<SyntaxProblem> constructors();
  SyntaxProblem body_without_braces();
  std::optional<SyntaxProblem> parameters();
  std::optional<SyntaxProblem> bindings();
  std::optional<SyntaxProblem> name_after_let(size_t at);
  std::optional<SyntaxProblem> several_names(size_t first);
  // operators
  std::optional<SyntaxProblem> equals();
  std::optional<SyntaxProblem> arrows();
  std::optional<SyntaxProblem> numbers();
  bool in_pattern_of_let() const;
  std::optional<SyntaxProblem> literals_in_patterns();
  std::optional<SyntaxProblem> reductions();

  const SyntaxFailure& f_;
  size_t enclosing_;  ///< the innermost open bracket around the failure
};

}  // namespace quern
