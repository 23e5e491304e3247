#pragma once
// Unbound names in an operator, as far as they can be found without a call.

#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"

namespace quern {

/// In `where`, `static`, `when` and the result's type.
Diagnostics check_clause_names(const Declaration& op, Scope& scope);
/// In these, and in the bodies of an `op`.
Diagnostics check_body_names(const Declaration& op, Scope& scope);

}  // namespace quern
