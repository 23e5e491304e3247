#pragma once
// What passes share: a pass is a function from a typed expression to an equivalent one, its nodes in the
// arena given.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// What a pass may ask for.
struct PassContext {
  Arena& arena;               ///< of the nodes it makes
  FunctionSource& functions;  ///< typed definitions of the globals
};

/// Whether evaluating it again costs nothing: a variable, or a rank-0 constant. A vector
/// whose lanes differ is none: it is read from memory.
bool is_atom(ExprPtr expr);

/// The value of a condition that is a constant.
std::optional<bool> known_condition(ExprPtr condition);

/// How many nodes inlining puts into an expression, at most.
constexpr size_t kInlineBudget = 50'000;
size_t count_nodes(ExprPtr expr);

/// The body of a function in the place of a call: `{ let p = arg; …; body }`, atoms in the place of their
/// parameters. `at` says what its dims and types are there, and which call it is.
ExprPtr body_at(Arena& arena, const FnExpr& function, std::span<const ExprPtr> args, ExprSubstitution at);

/// The block with `map` of each value and of the result; itself where none changed. `bound` gets each
/// binding before what comes after it.
ExprPtr map_block(Arena& arena, const BlockExpr& block, const std::function<ExprPtr(ExprPtr)>& map,
                  const std::function<void(const Variable*, ExprPtr)>& bound);

}  // namespace quern
