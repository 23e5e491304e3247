#pragma once
// Typed programs with a meaning in the place of a name: what tells whether a text that gained or lost a
// name is the same program.

#include <functional>
#include <string_view>
#include <unordered_map>

#include "ir/expr/expr.h"

namespace quern::ide {

/// Whether a binding is the one that is meant.
using IsBinding = std::function<bool(const quern::Binding&)>;

/// The value of a `let` in the place of its variable, its binding gone; null where no binding in `expr` is
/// the one. What it evaluates, and when, is not looked at.
ExprPtr with_value_in_place(Arena& arena, ExprPtr expr, const IsBinding& is_it);

/// Variables that stand for others.
using VariableMap = std::unordered_map<const Variable*, const Variable*>;
/// Graph variables as those of `let`: `variables` gets what stands for each that is bound in the
/// expression, and says what stands for those that are free in it.
ExprPtr with_lets(Arena& arena, ExprPtr expr, VariableMap& variables);

/// Without the schedules that calls of operators state.
ExprPtr without_schedules(Arena& arena, ExprPtr expr);

/// The body of a function in the place of its calls.
ExprPtr with_body_in_place(Arena& arena, ExprPtr expr, std::string_view global, const Definition& function);

/// The definition of an operator in the place of its calls.
ExprPtr with_operator_in_place(Arena& arena, ExprPtr expr, std::string_view op, FunctionSource& functions);

}  // namespace quern::ide
