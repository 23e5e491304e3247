#pragma once
// Rows of values: slices of tensors along their leading axes.

#include <cstdint>

#include "ir/value/value.h"

namespace quern {

/// Row `k`, in bounds, of tensors and of tuples of them, as a copy.
Value row_of(const Value& rows, int64_t k);
/// Writes row `k` of tensors and of tuples of them.
void put_row(const Value& rows, int64_t k, const Value& row);
/// The tensor with row `k`, in bounds, replaced: written in place where nothing else has the tensor.
Value with_row(Value rows, int64_t k, const Value& row);

}  // namespace quern
