#pragma once
// Which elements of an axis `first:last:step` means: shared by inference and the printer.

#include <cstdint>
#include <optional>

#include "ir/dim/dim.h"

namespace quern {

/// The elements at first, first + step, …, `count` of them.
struct SliceRange {
  Dim first, count;
  int64_t step;
};

/// As in Python: bounds count from the end when negative and are kept within the axis; a step down begins at
/// the last element and ends before the first where nothing else is said. `step` is not 0.
SliceRange slice_range(std::optional<Dim> first, std::optional<Dim> last, int64_t step, Dim extent);

}  // namespace quern
