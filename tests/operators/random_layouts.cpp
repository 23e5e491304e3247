#include "tests/operators/random_layouts.h"

#include <numeric>

namespace quern::numeric {

std::vector<Dim> dims_of(const Shape& shape) {
  std::vector<Dim> dims;
  for (int64_t extent : shape) dims.push_back(dim_const(extent));
  return dims;
}

namespace {

LayoutStep step(LayoutPrimitive primitive, const std::vector<int64_t>& numbers) {
  LayoutStep made{primitive, {}};
  for (int64_t n : numbers) made.numbers.push_back(dim_const(n));
  return made;
}

}  // namespace

std::optional<Layout> random_layout(Random& random, LayoutPrimitive primitive, const Shape& shape) {
  if (shape.empty()) return std::nullopt;
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1), extent = shape[static_cast<size_t>(axis)];
  Layout out;
  auto add = [&](LayoutPrimitive p, const std::vector<int64_t>& numbers) {
    out.steps.push_back(step(p, numbers));
  };
  switch (primitive) {
    case LayoutPrimitive::Split: {
      int64_t part = random.integer(1, 3), more = random.integer(1, 2), all = part * more;
      if (extent % all != 0) add(LayoutPrimitive::Pad, {axis, 0, all - extent % all});
      add(LayoutPrimitive::Split,
          more == 1 ? std::vector<int64_t>{axis, part} : std::vector<int64_t>{axis, more, part});
      break;
    }
    case LayoutPrimitive::Fuse: add(LayoutPrimitive::Fuse, {axis, random.integer(1, rank - axis)}); break;
    case LayoutPrimitive::Reorder: {
      std::vector<int64_t> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      random.shuffle(order);
      add(LayoutPrimitive::Reorder, order);
      break;
    }
    case LayoutPrimitive::Pad:
      add(LayoutPrimitive::Pad, {axis, random.integer(0, 2), random.integer(0, 2)});
      break;
    case LayoutPrimitive::Unpad: {
      int64_t before = random.integer(0, 2), after = random.integer(0, 2);
      add(LayoutPrimitive::Pad, {axis, before, after});
      add(LayoutPrimitive::Unpad, {axis, before, after});
      break;
    }
    case LayoutPrimitive::Unfold:
    case LayoutPrimitive::Fold: {
      int64_t stride = random.integer(1, 3), tile = stride + random.integer(0, 2);
      add(LayoutPrimitive::Unfold, {axis, tile, stride});
      if (primitive == LayoutPrimitive::Fold) add(LayoutPrimitive::Fold, {axis, tile, stride, extent});
      break;
    }
  }
  return out;
}

}  // namespace quern::numeric
