#pragma once
// Whether a kernel's result may take the memory of an operand.

#include <optional>

#include "ir/expr/expr.h"

namespace quern::loops {

/// The number of the first parameter of a primitive function whose memory its result may take: it has the result's type, and
/// each of its elements is read only for the result's element at its place, or for what a scatter adds to. No schedule is
/// stated, whose stages might compute an element again after it is stored. Nothing if there is no such parameter.
std::optional<size_t> param_under_result(const FnExpr& primitive);

}  // namespace quern::loops
