#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// An index expression as a function of what it reads: two with equal texts have the same value for the same operands.
struct ValueKey {
  std::string text;                       ///< within one process
  std::vector<const Variable*> operands;  ///< in the order in which the text names them
};

/// Nothing for an expression with a schedule, or with what no kernel computes.
std::optional<ValueKey> value_key(Arena& arena, ExprPtr expr);

}  // namespace quern
