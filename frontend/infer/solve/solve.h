#pragma once
// The end of the walk: runs the queue to its fixpoint, applies defaults, and reports what stays open.

#include "frontend/infer/walk/walk.h"

namespace quern {

void solve(Parts& parts);

}  // namespace quern
