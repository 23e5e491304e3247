#pragma once
// Replaces names in typed programs by their meanings, to check whether a text that gained or lost a name is the same
// program.

#include <functional>
#include <string_view>
#include <unordered_map>

#include "ir/expr/expr.h"

namespace quern::ide {

/// Whether a binding is the wanted one.
using IsBinding = std::function<bool(const quern::Binding&)>;

/// Inlines the value of a `let` and removes its binding; null if no binding in `expr` is the wanted one. Ignores
/// effects and the order of evaluation.
ExprPtr with_value_in_place(Arena& arena, ExprPtr expr, const IsBinding& is_it);

/// The replacements of variables.
using VariableMap = std::unordered_map<const Variable*, const Variable*>;
/// Converts graph variables to those of `let`. `variables` has the replacements of the ones free in the expression;
/// those of the ones bound in it are added.
ExprPtr with_lets(Arena& arena, ExprPtr expr, VariableMap& variables);

/// Removes the schedules of operator calls.
ExprPtr without_schedules(Arena& arena, ExprPtr expr);

/// Inlines the body of a function into its calls.
ExprPtr with_body_in_place(Arena& arena, ExprPtr expr, std::string_view global, const Definition& function);

/// Inlines the definition of an operator into its calls.
ExprPtr with_operator_in_place(Arena& arena, ExprPtr expr, std::string_view op, FunctionSource& functions);

}  // namespace quern::ide
