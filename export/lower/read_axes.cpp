#include "export/lower/read_axes.h"

#include <algorithm>

namespace quern::onnx {

void IndexSpace::add(std::span<const Dim> more, std::span<const Dim> their_extents) {
  vars.insert(vars.end(), more.begin(), more.end());
  extents.insert(extents.end(), their_extents.begin(), their_extents.end());
}

void IndexSpace::drop(size_t count) {
  vars.resize(vars.size() - count);
  extents.resize(extents.size() - count);
}

std::optional<size_t> IndexSpace::place_of(Dim var) const {
  const auto found = std::ranges::find(vars, var);
  return found == vars.end() ? std::nullopt : std::optional(static_cast<size_t>(found - vars.begin()));
}

bool IndexSpace::is_in(Dim dim) const {
  return std::ranges::any_of(vars, [&](Dim var) { return contains_var(dim, var); });
}

namespace {

/// `min(v, extent - 1)`, as broadcasting reads: the axis itself, or its only element.
std::optional<ReadAxis> broadcast_axis(Dim index, Dim extent, const IndexSpace& space) {
  if (index->kind != DimKind::Min || index->args.size() != 2) return std::nullopt;
  for (size_t k = 0; k < 2; ++k) {
    const auto place = space.place_of(index->args[k]);
    if (!place || index->args[1 - k] != dim_sub(extent, dim_const(1))) continue;
    const Dim wanted = space.extents[*place];
    const bool is_one_of =
        wanted->kind == DimKind::Broadcast && std::ranges::find(wanted->args, extent) != wanted->args.end();
    if (wanted != extent && !is_const(extent, 1) && !is_one_of) return std::nullopt;
    return ReadAxis{place, dim_const(0), 1, true, wanted == extent};
  }
  return std::nullopt;
}

std::optional<ReadAxis> axis_of(Dim index, Dim extent, const IndexSpace& space) {
  if (!space.is_in(index)) return ReadAxis{std::nullopt, index, 1, false, true};
  if (auto broadcast = broadcast_axis(index, extent, space)) return broadcast;
  std::optional<size_t> moving;
  for (size_t k = 0; k < space.size(); ++k) {
    if (!contains_var(index, space.vars[k])) continue;
    if (moving) return std::nullopt;
    moving = k;
  }
  const auto line = linear_in(index, space.vars[*moving]);
  const auto step = line ? as_const(line->coefficient) : std::nullopt;
  if (!step || *step == 0 || (*step < 0 && !as_const(line->rest))) return std::nullopt;
  const Dim wanted = space.extents[*moving];
  if (*step < 0 && !as_const(wanted)) return std::nullopt;
  const bool is_whole = *step == 1 && is_const(line->rest, 0) && wanted == extent;
  return ReadAxis{moving, line->rest, *step, is_whole, true};
}

}  // namespace

std::optional<std::vector<ReadAxis>> read_axes(const ReadExpr& read, const IndexSpace& space,
                                               std::optional<size_t> without) {
  std::vector<ReadAxis> axes;
  axes.reserve(read.indices.size());
  for (size_t k = 0; k < read.indices.size(); ++k) {
    if (k == without) {
      axes.emplace_back();
      continue;
    }
    const auto* index = as<DimValueExpr>(read.indices[k]);
    if (!index || read.checked[k]) return std::nullopt;
    const auto axis = axis_of(index->dim, read.tensor->type->dims[k], space);
    if (!axis) return std::nullopt;
    const bool is_second =
        axis->place && std::ranges::any_of(axes, [&](const ReadAxis& a) { return a.place == axis->place; });
    if (is_second) return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

bool factors_of(ExprPtr expr, std::vector<const ReadExpr*>& factors) {
  if (const auto* product = as<ScalarExpr>(expr);
      product && !product->is_cast && product->op == ScalarOp::Mul)
    return factors_of(product->args[0], factors) && factors_of(product->args[1], factors);
  const auto* read = as<ReadExpr>(expr);
  if (!read || !read->type->dtype.is_float()) return false;
  factors.push_back(read);
  return true;
}

}  // namespace quern::onnx
