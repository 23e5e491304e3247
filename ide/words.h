#pragma once
// The words and forms of the language, which no text declares: what each is for, and an example.

#include <cstdint>
#include <span>
#include <string_view>

namespace quern::ide {

enum class WordKind : uint8_t {
  Declaration,  ///< begins a declaration
  Statement,    ///< begins a statement
  Expression,   ///< begins an expression, or stands inside of one
  Value,        ///< is one: `True`
  Clause,       ///< stands between a head and its body
  Form,         ///< is called as an operator is: `grad(…)`
  Bracket,      ///< opens a bracket: `sum[`
  IndexForm,    ///< is called in index expressions alone: `select(…)`
  Type,         ///< is a type, or the begin of one: `Tensor`
  Kind,         ///< of an attribute: `int`
};

struct Word {
  std::string_view text;
  WordKind kind;
  std::string_view form;     ///< how it is written; of a form as a signature, with its parameters in brackets
  std::string_view about;    ///< one line
  std::string_view example;  ///< in the language; may be empty
};

std::span<const Word> words();
/// Null for what is none.
const Word* find_word(std::string_view text);

}  // namespace quern::ide
