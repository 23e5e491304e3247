// The model of the rule for contractions: how the columns lie in memory, the order of the loops, and what is far away.

#include <algorithm>
#include <cstdlib>

#include "jit/nest/contraction_model.h"

namespace quern::loops {

Panels ContractionModel::panels(const Roles& roles, const Tile& tile, bool may_block) const {
  constexpr int64_t kFewestSteps = 24;  // of a row of an image, which is a block
  if (!is_dense(roles) || roles.dot) return is_packable(roles) ? Panels::Prepacked : Panels::InPlace;
  const bool are_read_often = count(roles.rows) > 2 * tile.rows, is_fresh = buffer_of(roles.right).is_fresh;
  const bool has_form = is_packable(roles) && !repeats(roles);
  const bool has_blocks =
      has_form ? is_fresh : extent_or_usual(c_.reductions[0].extents.back()) >= kFewestSteps;
  const bool has_row_blocks =
      has_form && are_read_often && tiles_of_a_block(roles, tile_rows(roles), tile, Panels::Prepacked) > 0;
  if (may_block && are_read_often && has_blocks && !has_row_blocks && is_blocked(roles, tile))
    return Panels::Blocked;
  if (!has_form) return Panels::InPlace;
  const double bytes = form_size(roles) * static_cast<double>(c_.reductions[0].accumulator.bytes());
  const bool is_large = bytes > 2 * static_cast<double>(machine_.l2_bytes) && roles.batch.empty();
  return (is_large && !is_fresh) || are_read_often ? Panels::Prepacked : Panels::InPlace;
}

/// Blocks are short of what a tile's sums cost on their way from and to scratch memory, and of the result's panel, which stays
/// in the cache.
bool ContractionModel::is_blocked(const Roles& roles, const Tile& tile) const {
  constexpr int64_t kFewestBlocks = 3;
  const Dim apart = stored_apart(roles);
  const auto bytes = static_cast<int64_t>(c_.reductions[0].accumulator.bytes());
  const int64_t sums = times(count(roles.rows), width_of(roles, tile.vectors) * bytes);
  return apart && is_const(apart, 1) && is_far(buffer_of(roles.right)) && sums * 2 <= machine_.l2_bytes &&
         depth() >= kFewestBlocks * block_steps(roles) && columns_outside(roles, tile_rows(roles)) &&
         !shares_lines(roles) && !rows_outside(roles, tile);
}

/// Rows of the right factor that are pages apart share few sets of the first-level cache.
int64_t ContractionModel::block_steps(const Roles& roles) const {
  constexpr int64_t kSteps = 64, kPage = 4096;
  const auto along = linear_in(roles.right.offset, c_.reductions[0].vars.back());
  const int64_t apart = along ? as_const(along->coefficient).value_or(1) : 1;
  return apart * static_cast<int64_t>(roles.right.dtype.bytes()) % kPage == 0 ? kSteps / 2 : kSteps;
}

double ContractionModel::form_size(const Roles& roles) const {
  auto size = static_cast<double>(count(roles.columns)) * static_cast<double>(depth());
  for (const Dim var : roles.batch)
    if (depends(roles.right, var)) size *= static_cast<double>(extent_of(var));
  return size;
}

bool ContractionModel::repeats(const Roles& roles) const {
  double size = 1;
  for (const Dim extent : buffer_of(roles.right).shape) size *= static_cast<double>(extent_or_usual(extent));
  return form_size(roles) > 1.5 * size;
}

int64_t ContractionModel::step_of(Dim index, Dim var) {
  const auto linear = linear_in(index, var);
  return linear ? std::max<int64_t>(1, std::abs(as_const(linear->coefficient).value_or(1))) : 1;
}

bool ContractionModel::shares_lines(const Roles& roles) const {
  if (roles.rows.empty()) return false;
  const auto stride_of = [&](Dim var) {
    const auto along = linear_in(roles.left.offset, var);
    return along ? as_const(along->coefficient).value_or(0) : 0;
  };
  const auto bytes = static_cast<double>(c_.reductions[0].accumulator.bytes());
  Vars groups = roles.batch;
  if (roles.width > 0) groups.push_back(roles.columns[0]);
  const bool inside = std::any_of(groups.begin(), groups.end(), [&](Dim var) {
    return stride_of(var) > 0 && stride_of(var) < stride_of(roles.rows[0]);
  });
  return inside && form_size(roles) * bytes * 4 < static_cast<double>(machine_.l2_bytes);
}

bool ContractionModel::leaves_lines_open(const Roles& roles, const TileRows& tile_rows) const {
  constexpr int64_t kLine = 64, kStreams = 2;  // the result's, and those of what an epilogue reads
  const Dim along = stored_along(roles, tile_rows);
  if (!along || along != tile_rows.whole || !roles.batch.empty()) return false;
  const auto bytes = static_cast<int64_t>(c_.reductions[0].accumulator.bytes());
  return tile_rows.inner * bytes * 2 <= kLine &&
         times(count(roles.columns), kLine * kStreams) > machine_.l1_bytes;
}

bool ContractionModel::rows_outside(const Roles& roles, const Tile& tile) const {
  const Dim apart = stored_apart(roles);
  if (roles.dot || !apart || !is_const(apart, 1)) return false;
  const auto bytes = static_cast<int64_t>(c_.reductions[0].accumulator.bytes());
  const int64_t panels = times(times(count(roles.columns), depth()), bytes);
  const int64_t results = times(times(count(roles.rows), count(roles.columns)), bytes);
  return count(roles.columns) > width_of(roles, tile.vectors) && panels <= machine_.l2_bytes / 4 &&
         results > machine_.l2_bytes;
}

bool ContractionModel::reads_left_once(const Roles& roles) const {
  const auto size = as_const(dim_product(buffer_of(roles.left).shape));
  return size && times(times(count(roles.rows), count(roles.batch)), depth()) <= *size;
}

bool ContractionModel::is_far(const Buffer& buffer) const {
  const auto size = as_const(dim_product(buffer.shape));
  return size && times(*size, static_cast<int64_t>(buffer.dtype.bytes())) > machine_.l2_bytes;
}

bool ContractionModel::columns_outside(const Roles& roles, const TileRows& tile_rows) const {
  if (leaves_lines_open(roles, tile_rows)) return true;
  const auto bytes = static_cast<int64_t>(c_.reductions[0].accumulator.bytes());
  const int64_t groups = roles.dot ? (depth() + roles.dot->group - 1) / roles.dot->group : depth();
  const int64_t step = times(groups, bytes);
  const int64_t left = times(count(roles.rows), step), right = times(count(roles.columns), step);
  return right > machine_.l2_bytes / 2 || left < right;
}

int64_t ContractionModel::tiles_of_a_block(const Roles& roles, const TileRows& tile_rows, const Tile& tile,
                                           Panels panels) const {
  constexpr int64_t kFewestTiles = 4, kFewestPanels = 8;
  if (panels == Panels::Blocked || !roles.batch.empty() || tile_rows.whole || !is_known(tile_rows.cut))
    return 0;
  if (!is_far(buffer_of(roles.left)) || !reads_left_once(roles)) return 0;
  if (shares_lines(roles) || rows_outside(roles, tile) || !columns_outside(roles, tile_rows)) return 0;
  const auto rows = std::ranges::count_if(roles.rows, [&](Dim var) { return extent_of(var) > 1; });
  if (rows != 1 || count(roles.columns) < kFewestPanels * width_of(roles, tile.vectors)) return 0;
  const int64_t bytes = times(times(tile.rows, depth()), static_cast<int64_t>(roles.left.dtype.bytes()));
  const int64_t tiles = machine_.l2_bytes / 2 / std::max<int64_t>(1, bytes);
  return tiles >= kFewestTiles && tiles * tile.rows * 2 <= extent_of(tile_rows.cut) ? tiles : 0;
}

bool ContractionModel::packs_left(const Roles& roles, const TileRows& tile_rows, const Tile& tile,
                                  Panels panels) const {
  constexpr int64_t kFewestSteps = 64, kFewestPanels = 8, kPage = 4096;
  if (panels != Panels::Prepacked || roles.dot || tile_rows.whole || !tile_rows.cut || !roles.batch.empty())
    return false;
  if (!roles.left.checks.empty() || !roles.left.computed.empty() || !reads_left_once(roles)) return false;
  if (step_of(roles.left.offset, tile_rows.cut) != 1 || !is_known(tile_rows.cut)) return false;
  const auto bytes = static_cast<int64_t>(roles.left.dtype.bytes());
  const bool are_pages_apart = std::ranges::all_of(
      c_.reductions[0].vars, [&](Dim var) { return step_of(roles.left.offset, var) * bytes % kPage == 0; });
  return are_pages_apart && depth() >= kFewestSteps && is_far(buffer_of(roles.left)) &&
         count(roles.columns) >= kFewestPanels * width_of(roles, tile.vectors);
}

}  // namespace quern::loops
