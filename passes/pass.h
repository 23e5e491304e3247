#pragma once
// Shared by the passes: a pass is a function from a typed expression to an equivalent one, whose nodes are in
// the given arena.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// The context of a pass.
struct PassContext {
  Arena& arena;               ///< of the nodes it makes
  FunctionSource& functions;  ///< typed definitions of the globals
};

/// Whether evaluating it again is free: a variable, or a rank-0 constant. A vector constant with differing
/// lanes is not: it is read from memory.
bool is_atom(ExprPtr expr);

/// Whether it may bind dims that later code names: opened ones, and those of what a C++ kernel gives.
bool opens_dims(ExprPtr value);

/// The value of a variable.
ExprPtr read_of(Arena& arena, const Variable* variable, Origin origin);
/// `{ bindings; result }`; the result alone where there are none.
ExprPtr block_of(Arena& arena, const std::vector<Binding>& bindings, ExprPtr result, Origin origin);
/// `fn [dims](params) { body }`
const FnExpr* function_literal(Arena& arena, const std::vector<const Variable*>& params,
                               std::span<const Dim> dims, ExprPtr body, Origin origin);

/// The value of a constant condition.
std::optional<bool> known_condition(ExprPtr condition);

/// The maximal number of nodes that inlining adds to an expression.
constexpr size_t kInlineBudget = 50'000;
size_t count_nodes(ExprPtr expr);

/// The dims and types of a definition where it is used.
Substitution at_use(const Definition& definition, const GlobalExpr& use);

/// The body of a function to replace a call: `{ let p = arg; …; body }`, with atoms substituted for their
/// parameters. `at` has the dims and types at the call, and the call itself.
ExprPtr body_at(Arena& arena, const FnExpr& function, std::span<const ExprPtr> args, ExprSubstitution at);

/// The block with `map` applied to each value and the result; the block itself if none changed. `bound` is
/// called for each binding before the following ones are mapped.
ExprPtr map_block(Arena& arena, const BlockExpr& block, const std::function<ExprPtr(ExprPtr)>& map,
                  const std::function<void(const Variable*, ExprPtr)>& bound);

}  // namespace quern
