#pragma once
// Scans in the form that their gradient takes.

#include "passes/pass.h"

namespace quern {

/// Of a function in A-normal form: a scan's function reads the fields of what it captures before the scan, so
/// that it captures tensors; one that is no tensor code then becomes a loop, whose gradient goes along its
/// calls.
ExprPtr derivable_scans(const PassContext& context, ExprPtr expr);

}  // namespace quern
