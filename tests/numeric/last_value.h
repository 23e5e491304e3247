#pragma once
// What a text comes to.

#include <string>

#include "session/run/execution.h"

namespace quern {

/// The value of the last statement as JSON, or the first failure as a terminal shows it.
std::string last_value(const std::string& text, const ExecutionOptions& options);

}  // namespace quern
