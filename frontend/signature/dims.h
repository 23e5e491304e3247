#pragma once
// Dims of a signature that a call solves: `2 * n`, `n + 2`.

#include <optional>
#include <string>
#include <string_view>

#include "frontend/static/eval.h"
#include "ir/dim/dim.h"

namespace quern {

/// `coefficient * name + rest`, where `name` is the one name of the expression that has no value yet.
struct LinearPattern {
  std::string_view name;
  Dim coefficient, rest;
  std::string text;  ///< with the values of the other names; empty where there are none
};
/// Nothing where every name has a value, several have none, or the expression is not linear in the one.
std::optional<LinearPattern> linear_pattern(SyntaxPtr expr, StaticEvaluator& evaluator, const StaticEnv& env);

/// Whether the expression names what has no value yet.
bool names_unknown(SyntaxPtr expr, const StaticEnv& env);

}  // namespace quern
