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
  Split,    ///< split(axis, f…): the axis becomes several; f are the extents of all but the first
  Fuse,     ///< fuse(axis, count): `count` axes from `axis` on become one, row-major
  Reorder,  ///< reorder(a…): which axis comes first, second, …
  Pad,      ///< pad(axis, before, after): adds places at both ends, which hold 0
  Unpad,    ///< unpad(axis, before, after): removes places at both ends
  Unfold,   ///< unfold(axis, tile, stride): overlapping tiles of the axis, as two axes; `stride` <= `tile`
  Fold,     ///< fold(axis, tile, stride, extent): two axes of tiles become the axis
};

/// A primitive and its arguments. Axes are numbered as the preceding steps leave them.
struct LayoutStep {
  LayoutPrimitive primitive;
  std::vector<Dim> numbers;  ///< as in the text form
};

/// Steps from the logical tensor to the one in memory.
struct Layout {
  std::vector<LayoutStep> steps;
};

/// `split(1, 16) reorder(0, 1, 3, 4, 2)`
std::string to_string(const Layout& layout);
std::string to_string(const LayoutStep& step);
Result<Layout> parse_layout(std::string_view text);

/// The shape after a step, or a sentence that says why it does not apply to this shape.
Result<std::vector<Dim>> shape_after(const LayoutStep& step, std::span<const Dim> shape);
/// The shape in memory.
Result<std::vector<Dim>> stored_shape(const Layout& layout, std::span<const Dim> shape);

/// The inverse steps, for a layout that applies to this shape.
Layout inverse(const Layout& layout, std::span<const Dim> shape);

/// An element of a tensor, where all of `nonnegative` are >= 0; elsewhere there is none: padding.
struct StoredElement {
  std::vector<Dim> indices;
  std::vector<Dim> nonnegative;
};
/// The element stored at a memory location.
StoredElement element_at(const Layout& layout, std::span<const Dim> shape, std::span<const Dim> place);

}  // namespace quern
