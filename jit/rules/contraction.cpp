#include "jit/rules/contraction.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "ir/base/result.h"
#include "jit/nest/contraction_model.h"
#include "jit/nest/dot.h"
#include "jit/rules/schedule_default.h"

namespace quern::loops {

namespace {

class ContractionSchedule {
 public:
  /// `model` and `roles` are of the computation with merged loops; `original` is what it was made of.
  ContractionSchedule(const Computation& original, const MergedLoops& merged, const ContractionModel& model,
                      const Roles& roles, bool may_block)
      : c_(merged.computation),
        model_(model),
        roles_(roles),
        rows_(model.tile_rows(roles)),
        tile_(model.best_tile(roles, rows_)),
        panels_(model.panels(roles, tile_, may_block)),
        nest_(roles.turns_sign ? nest_of(c_, roles) : nest_of(original, roles)) {
    if (!roles.turns_sign)
      for (const MergedLoops::Pair& pair : merged.merged)
        fused_[pair.inner] = step({Primitive::Fuse, {{nest_.loop_of(pair.outer), loop_of(pair.inner)}}})[0];
  }

  Nest run() {
    const LoopId across = fused_columns();
    LoopIds reduced = depth_order();
    int64_t steps = extent_or_usual(nest_.extent_of(reduced.back()));
    const int64_t width = model_.width_of(roles_, tile_.vectors);
    if (panels_ == Panels::Prepacked) pack(roles_.right, across, reduced, width);
    if (model_.packs_left(roles_, rows_, tile_, panels_))
      pack(roles_.left, loop_of(rows_.cut), reduced, tile_.rows);
    LoopId innermost = reduced.back();
    if (roles_.dot) {
      const LoopIds parts = step({Primitive::Split, {{innermost}}, {roles_.terms}});
      innermost = reduced.back() = parts[0];
      reduced.push_back(parts[1]);
      steps /= roles_.terms;
    }
    const std::optional<LoopIds> bordered =
        panels_ == Panels::Blocked ? std::nullopt : split_at_borders(innermost);
    if (bordered) {
      reduced.back() = (*bordered)[0];
      reduced.push_back((*bordered)[1]);
    }
    const LoopIds columns = step({Primitive::Split, {{across}}, {width}});
    const RowLoops rows = split_rows();
    LoopIds order = outer_order(loops_of(roles_.batch), rows, columns[0]);
    if (panels_ == Panels::Blocked) {
      const LoopIds blocks = step({Primitive::Split, {{innermost}}, {model_.block_steps(roles_)}});
      step({Primitive::CacheWrite, {{columns[0]}}});
      innermost = blocks[1];
      reduced.back() = blocks[0];
      order.insert(std::ranges::find(order, columns[0]) + 1, reduced.begin(), reduced.end());
      order.push_back(innermost);
    } else {
      order.insert(order.end(), reduced.begin(), reduced.end());
    }
    order.insert(order.end(), rows.tile.begin(), rows.tile.end());
    order.push_back(columns[1]);
    step({Primitive::Reorder, {order}});
    for (const LoopId loop : rows.tile) step({Primitive::Unroll, {{loop}}});
    step({Primitive::Vectorize, {{columns[1]}}, {model_.lanes()}});
    if (rows.stored != kNoLoop) step({Primitive::TurnWrite, {{rows.stored, columns[1]}}});
    if (roles_.dot) tensorize(rows.tile, columns[1], reduced.back());
    if (bordered) {
      step({Primitive::Unroll, {{(*bordered)[1]}}});
      step({Primitive::Peel, {{(*bordered)[0]}}});
    } else if (steps > 1) {
      step({Primitive::Unroll, {{innermost}}, {steps <= 8 ? steps : 2}});
    }
    unroll_windows(innermost, rows.steps);
    if (has_borders()) step({Primitive::Peel, {{columns[0]}}});
    for (const std::string& tensor : distant())
      step({Primitive::Prefetch, {{bordered ? (*bordered)[0] : innermost}}, {}, {tensor}});
    constexpr int64_t kMany = 64;  // tiles are long: two threads share them to within a hundredth
    if (const auto shared = panels_ == Panels::Blocked ? std::optional(columns[0]) : nest_.shared_loop(kMany))
      step({Primitive::Parallel, {{*shared}}});
    return std::move(nest_);
  }

 private:
  static Nest nest_of(const Computation& c, const Roles& roles) {
    const DotIntrinsics dots = roles.dot ? DotIntrinsics{roles.dot} : DotIntrinsics();
    if (!roles.turns_sign) return Nest(c, {}, dots);
    TurnedSign turned = with_sign_turned(c, roles.left, roles.right, roles.grouped);
    return Nest(std::move(turned.computation), std::move(turned.forms), dots);
  }

  /// The tensors whose next lines come from beyond the second-level cache in pieces too short for the processor to foresee:
  /// what the results of a tile read, the rows of the next tile, and the next block of columns.
  std::vector<std::string> distant() const {
    std::vector<std::string> found;
    if (!model_.has_room_for_prefetches()) return found;
    const auto add = [&](const LoadValue& load) {
      const Buffer& buffer = c_.buffers[static_cast<size_t>(load.buffer)];
      const bool has_place = load.computed.empty() && load.indices.size() == buffer.shape.size();
      if (has_place && model_.is_far(buffer) && std::ranges::find(found, buffer.name) == found.end())
        found.push_back(buffer.name);
    };
    for_each<LoadValue>(c_.value, add);
    if (rows_.cut && model_.reads_left_once(roles_)) add(roles_.left);
    if (panels_ == Panels::Blocked) add(roles_.right);
    return found;
  }

  LoopIds step(const LoopStep& given) {
    auto made = nest_.apply(given);
    QUERN_CHECK(made);
    return *made;
  }

  /// The loop of a variable of the merged computation.
  LoopId loop_of(Dim var) const {
    const auto fused = fused_.find(var);
    return fused == fused_.end() ? nest_.loop_of(var) : fused->second;
  }

  LoopIds loops_of(const std::vector<Dim>& vars) const {
    LoopIds loops;
    for (const Dim var : vars) loops.push_back(loop_of(var));
    return loops;
  }

  const std::string& name_of(const LoadValue& read) const {
    return c_.buffers[static_cast<size_t>(read.buffer)].name;
  }

  /// The columns as one loop, inside the others.
  LoopId fused_columns() {
    LoopIds order = loops_of(roles_.batch);
    const LoopIds rows = loops_of(roles_.rows), columns = loops_of(roles_.columns);
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    step({Primitive::Reorder, {order}});
    LoopId across = columns[0];
    for (size_t k = 1; k < columns.size(); ++k) across = step({Primitive::Fuse, {{across, columns[k]}}})[0];
    return across;
  }

  /// The loops of the rows: outside of the tile, and in it.
  struct RowLoops {
    LoopIds outer, tile;
    LoopId steps = kNoLoop;   ///< over tiles, of the rows that are cut
    LoopId blocks = kNoLoop;  ///< around it, of as many tiles as the second-level cache keeps
    LoopId stored = kNoLoop;  ///< in the tile, contiguous in the result
  };
  RowLoops split_rows() {
    RowLoops rows{loops_of(roles_.rows), {}};
    if (stores_windows()) {
      rows.stored = step({Primitive::Fuse, {{loop_of(rows_.cut), loop_of(rows_.whole)}}})[0];
      rows.tile.push_back(rows.stored);
      std::erase(rows.outer, loop_of(rows_.cut));
      std::erase(rows.outer, loop_of(rows_.whole));
      return rows;
    }
    LoopId cut = kNoLoop;
    if (rows_.cut) {
      LoopId row = loop_of(rows_.cut);
      const auto place = std::find(rows.outer.begin(), rows.outer.end(), row);
      if (const int64_t tiles = model_.tiles_of_a_block(roles_, rows_, tile_, panels_); tiles > 0) {
        const LoopIds blocks = step({Primitive::Split, {{row}}, {tiles * tile_.rows}});
        rows.blocks = blocks[0];
        row = blocks[1];
      }
      const LoopIds parts = step({Primitive::Split, {{row}}, {tile_.rows}});
      rows.steps = *place = parts[0];
      cut = parts[1];
      rows.tile.push_back(cut);
    }
    if (rows_.whole) {
      rows.tile.push_back(loop_of(rows_.whole));
      std::erase(rows.outer, rows.tile.back());
    }
    if (const Dim along = model_.stored_along(roles_, rows_))
      rows.stored = along == rows_.cut ? cut : loop_of(along);
    return rows;
  }

  void pack(const LoadValue& read, LoopId across, const LoopIds& reduced, int64_t width) {
    Vars outer;
    for (const Dim var : roles_.batch)
      if (ContractionModel::depends(read, var)) outer.push_back(var);
    LoopIds inner;
    for (const LoopId loop : reduced)
      if (ContractionModel::depends(read, nest_.symbol_of(loop))) inner.push_back(loop);
    std::vector<ScheduleNumber> sizes{width};
    if (roles_.dot) sizes.push_back(roles_.dot->group);
    step({Primitive::Pack, {{}, loops_of(outer), {across}, inner}, sizes, {name_of(read)}});
  }

  void tensorize(const LoopIds& rows, LoopId columns, LoopId terms) {
    LoopIds loops{columns, terms};
    if (roles_.dot->is_of_matrices()) loops.insert(loops.begin(), rows.begin(), rows.end());
    step({Primitive::Tensorize, {loops, {}}, {}, {roles_.dot->name}});
  }

  /// Unrolls windows besides the reduction's innermost loop, which is already unrolled.
  void unroll_windows(LoopId innermost, LoopId row_steps) {
    if (!rows_.cut) return;
    const LoopIds windows = padded_windows();
    for (const LoopId loop : windows)
      if (loop != innermost) step({Primitive::Unroll, {{loop}}});
    if (!windows.empty()) step({Primitive::Peel, {{row_steps}}});
  }

  /// The loops around the reduction's, outermost first.
  LoopIds outer_order(const LoopIds& batch, const RowLoops& rows, LoopId columns) const {
    LoopIds order = batch;
    if (model_.shares_lines(roles_)) {
      order.insert(order.begin(), rows.outer.begin(), rows.outer.end());
      order.push_back(columns);
      return order;
    }
    if (model_.rows_outside(roles_, tile_)) {
      order.insert(order.end(), rows.outer.begin(), rows.outer.end());
      order.push_back(columns);
      return order;
    }
    const bool outside = model_.columns_outside(roles_, rows_);
    if (rows.blocks != kNoLoop) order.push_back(rows.blocks);
    if (outside) order.push_back(columns);
    for (const LoopId loop : rows.outer) {
      if (!outside && loop == rows.steps) order.push_back(columns);
      order.push_back(loop);
    }
    if (std::find(order.begin(), order.end(), columns) == order.end()) order.push_back(columns);
    return order;
  }

  /// Whether a tile has whole windows that are contiguous in the result, where its lanes are not: one loop over their
  /// elements stores each window at once, and not row by row.
  bool stores_windows() const {
    if (!rows_.cut || !rows_.whole || roles_.dot || model_.stored_along(roles_, rows_) != rows_.whole)
      return false;
    return tile_.rows == model_.extent_of(rows_.cut) && model_.is_known(rows_.cut) &&
           tile_.rows * rows_.inner <= model_.lanes() && model_.follow_each_other(rows_) &&
           padded_windows().empty();
  }

  /// The innermost loop of the reduction in steps of two, if a window that is a whole tile's rows moves along it: only its
  /// first and last steps read out of bounds, and the others need no masks. Gradients of weights, which sum over the
  /// places of an image, have such loops.
  std::optional<LoopIds> split_at_borders(LoopId innermost) {
    constexpr int64_t kStep = 2, kFewest = 3 * kStep;
    if (!rows_.whole || roles_.dot) return std::nullopt;
    const Dim var = nest_.symbol_of(innermost);
    const auto extent = as_const(nest_.extent_of(innermost));
    const bool crosses =
        std::any_of(roles_.left.checks.begin(), roles_.left.checks.end(), [&](const BoundsCheck& check) {
          return contains_var(check.index, var) && contains_var(check.index, rows_.whole);
        });
    if (!crosses || !extent || *extent < kFewest) return std::nullopt;
    return step({Primitive::Split, {{innermost}}, {kStep}});
  }

  /// The loops of a window that moves along the rows of a tile, if much of it is padding at some places: code
  /// for a known place skips that. None if it would be too much code.
  LoopIds padded_windows() const {
    constexpr int64_t kMostSteps = 1024;
    LoopIds windows;
    int64_t steps = tile_.rows * rows_.inner * tile_.vectors * 4;
    const Reduction& r = c_.reductions[0];
    for (const BoundsCheck& check : roles_.left.checks)
      for (const Dim row : {rows_.cut, rows_.whole}) {
        if (!row || !contains_var(check.index, row)) continue;
        for (size_t k = 0; k < r.vars.size(); ++k) {
          const auto extent = as_const(r.extents[k]);
          if (!extent || !contains_var(check.index, r.vars[k])) continue;
          if (is_padded(check.index, row, r.vars[k], *extent)) windows.push_back(loop_of(r.vars[k]));
          steps = std::min(steps, kMostSteps + 1) * std::min(*extent, kMostSteps + 1);
        }
      }
    return steps <= kMostSteps ? windows : LoopIds();
  }

  /// Whether more than the first and last row of a tile read out of bounds, or many terms are padding; or any, where
  /// a tile leaves no register for a mask.
  bool is_padded(Dim index, Dim row, Dim window, int64_t extent) const {
    constexpr int64_t kMostInside = 16;
    const int64_t outside =
        (extent - 1) * ContractionModel::step_of(index, window) / 2 / ContractionModel::step_of(index, row);
    const int64_t terms = outside * (outside + 1);
    if (extent > 1 && !model_.has_mask_registers()) return true;
    return terms > 0 &&
           ((outside > 1 && tile_.rows > 1) || terms * kMostInside >= extent * model_.extent_of(row));
  }

  /// Whether only the first and last of many column tiles read out of bounds: masks would slow down the
  /// others.
  bool has_borders() const {
    const Dim column = roles_.columns.back();
    const bool checked =
        std::any_of(roles_.right.checks.begin(), roles_.right.checks.end(),
                    [&](const BoundsCheck& check) { return contains_var(check.index, column); });
    return checked && roles_.columns.size() == 1 && model_.is_known(column) &&
           model_.extent_of(column) > 2 * tile_.vectors * model_.lanes();
  }

  /// Innermost is the loop with the left read's smallest stride among those at least as long as the unrolled
  /// steps, otherwise the longest, or the grouped one; the others keep their order.
  LoopIds depth_order() const {
    constexpr int64_t kUnrolled = 3, kFar = int64_t{1} << 40;
    const Reduction& r = c_.reductions[0];
    const auto distance = [&](size_t k) {
      const auto along = linear_in(roles_.left.offset, r.vars[k]);
      const auto stride = along ? as_const(along->coefficient) : std::nullopt;
      const int64_t extent = extent_or_usual(r.extents[k]);
      return std::pair(extent < kUnrolled ? kFar : std::abs(stride.value_or(kFar - 1)), -extent);
    };
    size_t innermost = r.vars.size() - 1;
    for (size_t k = r.vars.size(); k-- > 0;)
      if (roles_.dot ? r.vars[k] == roles_.grouped : distance(k) < distance(innermost)) innermost = k;
    LoopIds loops = loops_of(r.vars);
    std::rotate(loops.begin() + static_cast<ptrdiff_t>(innermost),
                loops.begin() + static_cast<ptrdiff_t>(innermost) + 1, loops.end());
    return loops;
  }

  const Computation& c_;
  const ContractionModel& model_;
  const Roles& roles_;
  const TileRows rows_;
  const Tile tile_;
  const Panels panels_;
  Nest nest_;
  std::map<Dim, LoopId> fused_;  ///< of variables that stand for merged loops
};

}  // namespace

std::optional<Nest> scheduled_contraction(const Computation& computation, const MachineModel& machine) {
  const MergedLoops merged = with_merged_results(computation);
  const ContractionModel model(merged.computation, machine);
  const auto roles = model.cheapest_roles();
  if (!roles) return std::nullopt;
  Nest nest = ContractionSchedule(computation, merged, model, *roles, true).run();
  // Sums of rows that are not a box of the result cannot be in scratch memory.
  if (!nest.is_complete()) nest = ContractionSchedule(computation, merged, model, *roles, false).run();
  QUERN_CHECK(nest.is_complete());
  return nest;
}

}  // namespace quern::loops
