#pragma once
// Commands that measure how long expressions take.

#include <string>

namespace quern {

class Workspace;

/// Runs an expression once: how long it took to check, to compile and to run.
bool time_expression(Workspace& workspace, const std::string& expression);
/// `A, B, C`: expressions that are run in turns, many times; the median of each and what it is of the
/// first's.
bool compare_times(Workspace& workspace, const std::string& expressions);

}  // namespace quern
