#pragma once
// Recursive definitions as functions inside of the one that calls them.

#include "passes/pass.h"

namespace quern {

/// The function with each top-level function that it names, and that `inline_calls` has left, as a variable
/// bound at the begin of its body, once for each instance of types. A definition that others of its group
/// need is bound again inside of each.
ExprPtr local_functions(const PassContext& context, ExprPtr function);

}  // namespace quern
