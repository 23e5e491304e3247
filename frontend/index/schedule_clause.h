#pragma once
// Schedules in syntax: reads their text, and checks it as far as the names of loops and tensors allow.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/diagnostics.h"
#include "ir/base/result.h"

namespace quern {

/// The names that a schedule may use: loops before any step, outermost first, and tensors.
struct ScheduleNames {
  std::vector<std::string> loops, tensors;
  std::vector<std::string> packs{};  ///< of `..i`, whose loops are i0, i1, …, any number
  bool any_loop = false;             ///< the loops are unknown and not checked
};

/// Reads the clause of a Schedule node; nothing after a diagnostic: an unknown primitive, or names, numbers
/// or groups that it does not accept.
std::optional<ScheduleClause> clause_of(SyntaxPtr schedule, uint32_t declaration, Diagnostics& diagnostics);
/// Reports loops and tensors that do not exist at a step, and names given twice.
Diagnostics check_schedule_names(const ScheduleClause& clause, const ScheduleNames& names);

/// The names of an index expression's (a Comprehension's) loops and of the tensors it reads.
ScheduleNames schedule_names(SyntaxPtr comprehension);
/// The names of an operator's parameters that are tensors.
std::vector<std::string> tensor_parameters(SyntaxPtr op);
/// The schedule of an operator's declaration; null if it has none.
SyntaxPtr schedule_of(SyntaxPtr declaration);
/// Checks the schedules of and in a declaration, as far as its text allows.
Diagnostics check_schedules(SyntaxPtr declaration, uint32_t id);
/// The clause of a Schedule node; nothing if clause_of or check_schedule_names reports a diagnostic.
std::optional<ScheduleClause> sound_clause(SyntaxPtr schedule, uint32_t declaration,
                                           const ScheduleNames& names);
/// The same for an operator's own schedule, if it has one.
std::optional<ScheduleClause> own_clause(const Syntax& op, uint32_t id);

/// Reads the steps of a schedule: `io, ii = split(i, 4); unroll(ii)`.
Result<loops::Schedule> parse_schedule(std::string_view steps);

}  // namespace quern
