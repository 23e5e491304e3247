#pragma once
// docs/errors.md for a terminal.

#include <string>
#include <string_view>

#include "frontend/text/diagnostics.h"

namespace quern {

/// The section about a kind: its text, and its examples, indented under a heading each.
std::string explain(DiagnosticKind kind, bool colour);

}  // namespace quern
