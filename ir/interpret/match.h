#pragma once
// Matching of values with patterns, as the reference interpreter does it: one pattern after the other.

#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/value/value.h"

namespace quern::interpreter {

struct PatternBinding {
  const Variable* variable;
  Value value;
};

/// Whether the value matches; `bindings` are then the pattern's variables, each with its part of the value.
bool matches(const Pattern& pattern, const Value& value, std::vector<PatternBinding>& bindings);

}  // namespace quern::interpreter
