#pragma once
// Schedules in the syntax: what their text says, and what is wrong with it as far as loops and tensors are
// known by name.

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
  std::vector<std::string> packs{};  ///< of `..i`, whose loops are i0, i1, … however many
  bool any_loop = false;             ///< the loops are not known, and not checked
};

/// The clause that a Schedule node of a declaration says; nothing after a diagnostic: a primitive that there
/// is not, names, numbers or groups that it does not take.
std::optional<ScheduleClause> clause_of(SyntaxPtr schedule, uint32_t declaration, Diagnostics& diagnostics);
/// Loops and tensors of a clause that there are not at its steps, and names that it gives twice.
Diagnostics check_schedule_names(const ScheduleClause& clause, const ScheduleNames& names);

/// The names of an index expression's loops (a Comprehension), and of the tensors that it reads.
ScheduleNames schedule_names(SyntaxPtr comprehension);
/// The names of an operator's parameters that are tensors.
std::vector<std::string> tensor_parameters(SyntaxPtr op);
/// The schedule of an operator's declaration; null where it has none.
SyntaxPtr schedule_of(SyntaxPtr declaration);
/// What is wrong with the schedules of a declaration, its own and those in it, as far as its text tells.
Diagnostics check_schedules(SyntaxPtr declaration, uint32_t id);
/// The clause of a Schedule node; nothing where clause_of or check_schedule_names has a diagnostic.
std::optional<ScheduleClause> sound_clause(SyntaxPtr schedule, uint32_t declaration,
                                           const ScheduleNames& names);
/// The same of an operator's own schedule, where it has one.
std::optional<ScheduleClause> own_clause(const Syntax& op, uint32_t id);

/// Reads the steps of a schedule: `io, ii = split(i, 4); unroll(ii)`.
Result<loops::Schedule> parse_schedule(std::string_view steps);

}  // namespace quern
