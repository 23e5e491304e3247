#pragma once
// Loops: local functions that call themselves as the last thing they do, and are called from one place.

#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "passes/uses.h"

namespace quern {

/// `let %f = fn (…) { … %f(…) … }; … %f(…)`, in A-normal form.
struct TailLoop {
  const Variable* name;
  size_t binding;  ///< of the function, in its block
  size_t
      first;  ///< the binding of the call that enters the loop; the number of bindings for the block's result
  const FnExpr* function;
  const CallExpr* enters;
  std::vector<const CallExpr*> again;  ///< the calls inside, at least one
};

/// The loop of a block's binding; nothing if it is no such function, or is used otherwise.
std::optional<TailLoop> tail_loop(const BlockExpr& block, size_t binding, const Uses& uses);

/// The calls of the function that are the last thing that `body` does.
void tail_calls(ExprPtr body, const std::function<bool(ExprPtr callee)>& is_function,
                std::vector<const CallExpr*>& out);

/// The code that each turn of a loop runs that is not the last: the bindings of the body's block, then those of the
/// arm that calls again, and so on while the other arm leaves the loop.
struct Turn {
  std::vector<Binding> bindings;
  /// How often it runs, if that is known at the loop's entry: a parameter is counted from `begin` by one, and the
  /// only condition on the way compares it with the end.
  const Variable* counter = nullptr;
  Dim begin = nullptr, count = nullptr;
};
Turn turn_of(const TailLoop& loop, const BlockExpr& outside);

/// The parameters that each call inside passes on unchanged.
std::unordered_set<const Variable*> invariant_params(const TailLoop& loop);

}  // namespace quern
