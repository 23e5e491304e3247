#pragma once
// The types of rows: the slices of tensors along their leading axes, and the same of each part of a tuple.

#include "ir/type/type.h"

namespace quern {

/// Whether the type is a tensor's, or a tuple's of such types: what has rows, or can be one.
bool is_row_type(Type type);
/// The type of `extent` rows as one value: each tensor with a leading axis more.
Type rows_type(Type row, Dim extent);
/// The type of a row; null if a part of the type is no tensor, or has no axis.
Type row_type(Type rows);
/// The extent of the leading axis of the first tensor; null if there is none.
Dim row_count(Type rows);

}  // namespace quern
