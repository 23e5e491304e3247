#pragma once
// Single numbers as text.

#include <string>
#include <string_view>

#include "ir/value/scalar.h"
#include "ir/value/tensor.h"
#include "ir/value/value_style.h"

namespace quern {

/// "0.1", "True", "-3", "inf".
std::string number_text(const Scalar& number, const ValueStyle& style = {});
/// A number of a tensor; the offset counts lanes of vectors.
std::string number_text(const HostTensor& tensor, int64_t offset, const ValueStyle& style = {});
/// The number of characters of a UTF-8 text, each taken as one column.
int columns_of(std::string_view text);

}  // namespace quern
