#pragma once
// The types of expressions, by the language's own inference: the text that is written has these types when it is checked.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/text/term.h"
#include "session/session.h"

namespace quern::import_text {

class Typer {
 public:
  Typer();

  /// The dim of this name; the same one each time.
  Dim dim(const std::string& name);
  /// The dims that a text names.
  std::vector<Dim> dims_in(std::string_view text) const;
  /// The type of an expression in which `$0`, `$1`… stand for operands. Throws a Refusal with the first diagnostic.
  Type type_of(std::string_view expression, const std::vector<Term>& operands);
  /// The value of such an expression of constants, by the reference interpreter; null where it has none.
  TensorPtr evaluate(const std::string& expression);

 private:
  Type infer(const std::string& definition);

  Session session_;
  ModuleId module_;
  std::map<std::string, Dim> dims_;
  std::unordered_map<std::string, Type> known_;  ///< by the definition's text
};

/// The expression with its operands in place: `operand(k)` for `$k`.
std::string with_operands(std::string_view expression, const std::function<std::string(size_t)>& operand);
/// A `[n, m]` of the dims that types name, or "".
std::string dim_parameters(const std::vector<Type>& types);
/// The names in a text, without those of variables and operators.
std::set<std::string> names_in(std::string_view text);

}  // namespace quern::import_text
