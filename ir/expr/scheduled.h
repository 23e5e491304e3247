#pragma once
// What a schedule finds in an index expression: its loops by their names, and the tensors that it names.

#include <string>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

struct NamedLoop {
  std::string name;
  Dim var;  ///< null for the loop over the lanes of vectors
};
/// The loops of an index expression before any step, outermost first: its index variables, then those of its
/// reductions (which stand in no other reduction and in no `let`). A name that there is already gets a
/// number: `i_2`.
std::vector<NamedLoop> loops_of(const ComprehensionExpr& e);

/// The index expression that a definition's body is, inside of what binds dims around it and of what gives it
/// a gradient; null for any other body.
const ComprehensionExpr* only_comprehension(ExprPtr body);
/// Such a body with this schedule, whose tensors are among the parameters; null for any other.
ExprPtr with_schedule(Arena& arena, ExprPtr body, const ScheduleClause& schedule,
                      std::span<const Variable* const> params);

}  // namespace quern
