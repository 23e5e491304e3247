#pragma once
// How a tensor is stored: the layout primitives of ALT (Xu et al., "ALT: Breaking the Wall between Data
// Layout and Loop Optimizations", EuroSys 2023, section 4.1), each with its inverse.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"
#include "ir/dim/dim.h"

namespace quern {

enum class LayoutPrimitive : uint8_t {
  Split,    ///< split(axis, f…): the axis in several; f are the extents of all but the first
  Fuse,     ///< fuse(axis, count): that many axes from `axis` on in one, row-major
  Reorder,  ///< reorder(a…): which axis comes first, second, …
  Pad,      ///< pad(axis, before, after): more places at both ends, which hold 0
  Unpad,    ///< unpad(axis, before, after): without places at both ends
  Unfold,   ///< unfold(axis, tile, stride): tiles of the axis that overlap, in two axes; `stride` <= `tile`
  Fold,     ///< fold(axis, tile, stride, extent): the axis of which two are the tiles
};

/// A primitive, and what it is given. Axes count as the steps before it leave them.
struct LayoutStep {
  LayoutPrimitive primitive;
  std::vector<Dim> numbers;  ///< as in the text form
};

/// Steps from the tensor that a program means to the one in memory.
struct Layout {
  std::vector<LayoutStep> steps;
};

/// `split(1, 16) reorder(0, 1, 3, 4, 2)`
std::string to_string(const Layout& layout);
std::string to_string(const LayoutStep& step);
Result<Layout> parse_layout(std::string_view text);

/// The shape after a step, or why a tensor of this shape cannot take it (which a sentence says).
Result<std::vector<Dim>> shape_after(const LayoutStep& step, std::span<const Dim> shape);
/// The shape in memory.
Result<std::vector<Dim>> stored_shape(const Layout& layout, std::span<const Dim> shape);

/// The steps back, for a layout that a tensor of this shape takes.
Layout inverse(const Layout& layout, std::span<const Dim> shape);

/// An element of a tensor, where all of `nonnegative` are >= 0; elsewhere there is none: padding.
struct StoredElement {
  std::vector<Dim> indices;
  std::vector<Dim> nonnegative;
};
/// What is stored at a place of the memory.
StoredElement element_at(const Layout& layout, std::span<const Dim> shape, std::span<const Dim> place);

}  // namespace quern
