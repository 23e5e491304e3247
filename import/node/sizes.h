#pragma once
// Shapes that operators are given as a tensor of integers.

#include "import/node/call.h"

namespace quern::onnx {

/// The integers of an input as a list for an attribute: numbers and dims where they are known at import, and otherwise the
/// elements that it has at run time (`[%shape[0], %shape[1]]`).
struct Sizes {
  std::vector<Term> operands;  ///< of `text`, from `$first` on
  std::string text;
};
Sizes sizes_in(Call& call, size_t input, size_t first);
/// The same of a term.
Sizes sizes_of(const Term& term, size_t first);
/// How many integers an input has; it has to be a vector of a known length.
size_t length_in(Call& call, size_t input);
/// The dims of a tensor as a term of integers.
Term shape_term(const Term& tensor);

}  // namespace quern::onnx
