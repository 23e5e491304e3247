#pragma once
// Resolves a schedule's names in an index expression: loops and tensors.

#include <string>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

struct NamedLoop {
  std::string name;
  Dim var;  ///< null for the loop over vector lanes
};
/// The loops of an index expression before any step, outermost first: its index variables, then those of its
/// reductions (those not nested in another reduction or a `let`). A repeated name gets a number: `i_2`.
std::vector<NamedLoop> loops_of(const ComprehensionExpr& e);

/// The index expression that is a definition's body, below nodes that bind dims or attach a gradient; null
/// for any other body.
const ComprehensionExpr* only_comprehension(ExprPtr body);
/// Such a body with this schedule, whose tensors are parameters; null for any other body.
ExprPtr with_schedule(Arena& arena, ExprPtr body, const ScheduleClause& schedule,
                      std::span<const Variable* const> params);

}  // namespace quern
