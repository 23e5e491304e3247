#pragma once
// Statistics of the numbers in tensors.

#include <cstddef>
#include <string>
#include <vector>

#include "ide/number_summary.h"
#include "ir/value/value.h"

namespace quern {

/// A tensor inside a value; scalars are tensors too.
struct InnerTensor {
  std::string name;  ///< the way to it: "conv1.weight", ".0", "[2]"; "" of a value that is one
  TensorPtr tensor;
};
/// The tensors of a value in the order in which they are printed, `most` at the most; of functions none.
std::vector<InnerTensor> tensors_in(const Value& value, size_t most);

/// One tensor in lines; several in a table, with a line for all of them.
std::string summary_text(const std::vector<InnerTensor>& tensors);

}  // namespace quern
