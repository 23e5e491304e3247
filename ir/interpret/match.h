#pragma once
// Pattern matching of the reference interpreter: one pattern after another.

#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/value/value.h"

namespace quern::interpreter {

struct PatternBinding {
  const Variable* variable;
  Value value;
};

/// Whether the value matches; if so, `bindings` holds the pattern's variables, each with its part of the
/// value.
bool matches(const Pattern& pattern, const Value& value, std::vector<PatternBinding>& bindings);

}  // namespace quern::interpreter
