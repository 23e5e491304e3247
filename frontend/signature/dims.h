#pragma once
// Dims of a signature solved from a call: `2 * n`, `n + 2`.

#include <optional>
#include <string>
#include <string_view>

#include "frontend/static/eval.h"
#include "ir/dim/dim.h"

namespace quern {

/// `coefficient * name + rest`, where `name` is the only name of the expression without a value.
struct LinearPattern {
  std::string_view name;
  Dim coefficient, rest;
  std::string text;  ///< with the other names replaced by their values; empty if there are none
};
/// Nothing if every name has a value, several have none, or the expression is not linear in the unknown one.
std::optional<LinearPattern> linear_pattern(SyntaxPtr expr, StaticEvaluator& evaluator, const StaticEnv& env);

/// Whether the expression contains a name without a value.
bool names_unknown(SyntaxPtr expr, const StaticEnv& env);

}  // namespace quern
