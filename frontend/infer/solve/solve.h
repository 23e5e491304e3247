#pragma once
// The end of the walk: the queue to its fixpoint, defaults, and what is reported of what stays open.

#include "frontend/infer/walk/walk.h"

namespace quern {

void solve(Parts& parts);

}  // namespace quern
