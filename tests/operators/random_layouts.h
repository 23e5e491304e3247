#pragma once
// Random layouts, each primitive with numbers that a shape can take.

#include <optional>

#include "passes/layout/layout.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {

constexpr LayoutPrimitive kLayoutPrimitives[] = {
    LayoutPrimitive::Split, LayoutPrimitive::Fuse,   LayoutPrimitive::Reorder, LayoutPrimitive::Pad,
    LayoutPrimitive::Unpad, LayoutPrimitive::Unfold, LayoutPrimitive::Fold};

/// Steps that end with the primitive; a tensor takes it after others where it cannot take it at once (a split
/// of an extent that is no multiple is padded first). Nothing for a tensor without axes.
std::optional<Layout> random_layout(Random& random, LayoutPrimitive primitive, const Shape& shape);

std::vector<Dim> dims_of(const Shape& shape);

}  // namespace quern::numeric
