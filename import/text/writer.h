#pragma once
// Lines of a block, written one `let` at a time, each with the type that inference gives it.

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/text/names.h"
#include "import/text/term.h"
#include "import/text/typer.h"
#include "import/text/weights.h"

namespace quern::import_text {

/// `let bound = text;`, where several bound names are the parts of a tuple.
struct Line {
  std::vector<std::string> bound;
  std::string text;
  std::vector<std::string> scope;  ///< of the part of the model that it is from: `layer1 0 conv1`
};
std::string to_string(const Line& line);
/// `{ let %a = …; result }`; a variable that is the result alone is not named.
std::string block_of(std::span<const Line> lines, const std::string& result);

/// What the blocks of a text share.
struct Document {
  Typer& typer;
  Weights& weights;
  Names names = {};
  std::vector<Term> variables = {};           ///< in the order in which they were bound
  std::vector<std::string> definitions = {};  ///< of functions beside `@main`
};

/// The variables that a text names, with their sigil.
std::set<std::string> variables_in(std::string_view text);
/// The variables among the first `count` that a text names, each once.
std::vector<Term> captured(const Document& document, std::string_view text, size_t count);

class Writer {
 public:
  explicit Writer(Document& document) : document_(document) {}

  /// Writes `let %hint = expression;`, where `$0`, `$1`… are the operands, and returns the variable.
  Term let(std::string_view hint, std::string_view expression, const std::vector<Term>& operands);
  /// Of an expression that is a tuple: one variable for each of its parts. Parts with an empty hint are `_`.
  std::vector<Term> let_parts(const std::vector<std::string>& hints, std::string_view expression,
                              const std::vector<Term>& operands);
  /// Writes the same for an expression whose type is known and whose operands are in place.
  Term let_as(std::string_view hint, const std::string& text, Type type);
  std::vector<Term> let_parts_as(const std::vector<std::string>& hints, const std::string& text,
                                 const std::vector<Type>& types);
  /// A variable of this type that the text binds elsewhere, as a parameter.
  Term variable(std::string_view hint, Type type);
  /// The value as an operand. A constant is a literal if it is short, and otherwise becomes a weight.
  std::string operand(const Term& value);
  /// The expression with its operands in place.
  std::string text_of(std::string_view expression, const std::vector<Term>& operands);

  Document& document() const { return document_; }
  /// From now on lines are of this part of the model.
  void enter(std::vector<std::string> scope) { scope_ = std::move(scope); }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  Document& document_;
  std::vector<Line> lines_;
  std::vector<std::string> scope_;
};

}  // namespace quern::import_text
