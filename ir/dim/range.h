#pragma once

#include "ir/dim/dim.h"

namespace quern {

struct DimRange {
  Dim least, greatest;
};

/// Bounds of a dim over all points of the index variables that `facts` knows, free of these variables.
/// Interval arithmetic: sound, not necessarily tight.
DimRange range_of(Dim d, const Facts& facts);

}  // namespace quern
