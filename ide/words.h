#pragma once
// The keywords and constructs of the language, which no text declares: the purpose of each, and an example.

#include <cstdint>
#include <span>
#include <string_view>

namespace quern::ide {

enum class WordKind : uint8_t {
  Declaration,  ///< begins a declaration
  Statement,    ///< begins a statement
  Expression,   ///< begins an expression, or is inside of one
  Value,        ///< is one: `True`
  Clause,       ///< is between a head and its body
  Form,         ///< is called like an operator: `grad(…)`
  Bracket,      ///< opens a bracket: `sum[`
  IndexForm,    ///< is called only in index expressions: `select(…)`
  Type,         ///< is a type, or begins one: `Tensor`
  Kind,         ///< of an attribute: `int`
};

struct Word {
  std::string_view text;
  WordKind kind;
  std::string_view form;     ///< its syntax; for a Form a signature, with its parameters in brackets
  std::string_view about;    ///< one line
  std::string_view example;  ///< in the language; may be empty
};

std::span<const Word> words();
/// Null if there is no such word.
const Word* find_word(std::string_view text);

}  // namespace quern::ide
