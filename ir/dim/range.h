#pragma once

#include "ir/dim/dim.h"

namespace quern {

struct DimRange {
  Dim least, greatest;
};

/// Bounds of a dim at all points of the index variables that `facts` knows, free of these. Interval
/// arithmetic: they hold, and need not be reached.
DimRange range_of(Dim d, const Facts& facts);

}  // namespace quern
