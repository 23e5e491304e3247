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
/// A number of a tensor (lanes of vectors count).
std::string number_text(const HostTensor& tensor, int64_t offset, const ValueStyle& style = {});
/// Characters of a text in UTF-8, each of which is taken for one column.
int columns_of(std::string_view text);

}  // namespace quern
