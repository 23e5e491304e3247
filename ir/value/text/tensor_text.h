#pragma once
// Layout of the elements of tensors and of lists of numbers for display.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/value/tensor.h"
#include "ir/value/value_style.h"

namespace quern {

/// Replaces elided parts.
constexpr std::string_view kElided = "…";

/// "Tensor[(64,), float32] (2 NaN, 1 Inf)"
std::string tensor_heading(const HostTensor& tensor);
/// Whether there are too many elements to show all.
bool is_elided(const HostTensor& tensor, const ValueStyle& style);
/// One element: a number, or the lanes of a vector.
std::string element_text(const HostTensor& tensor, int64_t element, const ValueStyle& style);
/// The elements on one line; nothing if they take more than `columns`.
std::optional<std::string> tensor_line(const HostTensor& tensor, const ValueStyle& style, int columns);
/// The elements of a tensor of rank 1 or more: innermost lists beneath each other, numbers aligned at the
/// points. Each list shows as many columns as fit, but a single list continues over lines. Lines begin at
/// column `indent`, where the first one already is; the last leaves `after` columns free.
std::string tensor_rows(const HostTensor& tensor, const ValueStyle& style, int indent, int after);
/// One list of texts, on one line or over several; texts before and from index `gap` are the two ends of a
/// longer list.
std::string wrapped_list(std::vector<std::string> texts, std::optional<size_t> gap, const ValueStyle& style,
                         int indent, int after);

}  // namespace quern
