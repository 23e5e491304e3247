#pragma once
// The elements of an axis that `first:last:step` selects; shared by inference and the printer.

#include <cstdint>
#include <optional>

#include "ir/dim/dim.h"

namespace quern {

/// The elements at first, first + step, …, `count` of them.
struct SliceRange {
  Dim first, count;
  int64_t step;
};

/// As in Python: negative bounds count from the end, and bounds are clamped to the axis; by default a
/// negative step begins at the last element and ends before the first. `step` is not 0.
SliceRange slice_range(std::optional<Dim> first, std::optional<Dim> last, int64_t step, Dim extent);

}  // namespace quern
