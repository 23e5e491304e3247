#include "jit/rules/contraction.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ir/base/result.h"
#include "jit/nest/contraction_model.h"
#include "jit/nest/dot.h"

namespace quern::loops {

namespace {

class ContractionSchedule {
 public:
  ContractionSchedule(const Computation& computation, const ContractionModel& model, const Roles& roles)
      : c_(computation),
        model_(model),
        roles_(roles),
        rows_(model.tile_rows(roles)),
        tile_(model.best_tile(roles, rows_)),
        nest_(nest_of(computation, roles)) {}

  Nest run() {
    const std::string across = fused_columns();
    std::vector<std::string> reduced = depth_order();
    int64_t steps = extent_or_usual(nest_.extent_of(reduced.back()));
    const int64_t width = model_.width_of(roles_, tile_.vectors);
    if (model_.is_packed(roles_, tile_)) pack(across, reduced, width);
    std::string innermost = reduced.back();
    if (roles_.dot) {
      const std::string whole = std::exchange(innermost, nest_.outer_name(innermost));
      reduced.back() = innermost;
      reduced.push_back(nest_.inner_name(whole));
      step(Primitive::Split, {innermost, reduced.back()}, {{whole}}, {roles_.terms});
      steps /= roles_.terms;
    }
    const std::string outer_columns = nest_.outer_name(across), inner_columns = nest_.inner_name(across);
    step(Primitive::Split, {outer_columns, inner_columns}, {{across}}, {width});
    std::vector<std::string> rows = names_of(roles_.rows), tiled;
    std::string row_steps, tile_rows;
    if (rows_.cut) {
      const std::string name = nest_.name_of(rows_.cut);
      row_steps = nest_.outer_name(name);
      tile_rows = nest_.inner_name(name);
      step(Primitive::Split, {row_steps, tile_rows}, {{name}}, {tile_.rows});
      *std::find(rows.begin(), rows.end(), name) = row_steps;
      tiled.push_back(tile_rows);
    }
    if (rows_.whole) {
      tiled.push_back(nest_.name_of(rows_.whole));
      std::erase(rows, tiled.back());
    }
    std::vector<std::string> order = outer_order(names_of(roles_.batch), rows, outer_columns, row_steps);
    order.insert(order.end(), reduced.begin(), reduced.end());
    order.insert(order.end(), tiled.begin(), tiled.end());
    order.push_back(inner_columns);
    step(Primitive::Reorder, {}, {order});
    for (const std::string& name : tiled) step(Primitive::Unroll, {}, {{name}});
    step(Primitive::Vectorize, {}, {{inner_columns}}, {model_.lanes()});
    if (const Dim along = model_.stored_along(roles_, rows_))
      step(Primitive::TurnWrite, {},
           {{along == rows_.cut ? tile_rows : nest_.name_of(along), inner_columns}});
    if (roles_.dot) tensorize(tiled, inner_columns, reduced.back());
    if (steps > 1) step(Primitive::Unroll, {}, {{innermost}}, {steps <= 8 ? steps : 2});
    unroll_windows(innermost, row_steps);
    if (has_borders()) step(Primitive::Peel, {}, {{outer_columns}});
    QUERN_CHECK(nest_.apply(schedule_));
    constexpr int64_t kMany = 64;  // tiles are long: two threads share them to within a hundredth
    if (const std::string shared = nest_.shared_loop(kMany); !shared.empty())
      QUERN_CHECK(nest_.apply({Primitive::Parallel, {}, {{shared}}, {}}));
    QUERN_CHECK(nest_.is_complete());
    return std::move(nest_);
  }

 private:
  std::vector<std::string> names_of(const Vars& vars) const {
    std::vector<std::string> names;
    for (const Dim var : vars) names.push_back(nest_.name_of(var));
    return names;
  }

  static Nest nest_of(const Computation& c, const Roles& roles) {
    const DotIntrinsics dots = roles.dot ? DotIntrinsics{roles.dot} : DotIntrinsics();
    if (!roles.turns_sign) return Nest(c, {}, dots);
    TurnedSign turned = with_sign_turned(c, roles.left, roles.right, roles.grouped);
    return Nest(std::move(turned.computation), std::move(turned.forms), dots);
  }

  void step(Primitive primitive, std::vector<std::string> makes, std::vector<std::vector<std::string>> loops,
            std::vector<ScheduleNumber> numbers = {}) {
    schedule_.steps.push_back({primitive, std::move(makes), std::move(loops), std::move(numbers)});
  }

  /// The columns as one loop, inside of the others.
  std::string fused_columns() {
    std::vector<std::string> order = names_of(roles_.batch);
    const std::vector<std::string> rows = names_of(roles_.rows), columns = names_of(roles_.columns);
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    step(Primitive::Reorder, {}, {order});
    std::string across = columns[0];
    for (size_t k = 1; k < columns.size(); ++k) {
      const std::string fused = nest_.new_name(across + columns[k]);
      step(Primitive::Fuse, {fused}, {{across, columns[k]}});
      across = fused;
    }
    return across;
  }

  void pack(const std::string& across, const std::vector<std::string>& reduced, int64_t width) {
    Vars outer;
    for (const Dim var : roles_.batch)
      if (ContractionModel::depends(roles_.right, var)) outer.push_back(var);
    std::vector<std::string> inner;
    for (const std::string& name : reduced)
      if (ContractionModel::depends(roles_.right, nest_.symbol_of(name))) inner.push_back(name);
    std::vector<ScheduleNumber> sizes{width};
    if (roles_.dot) sizes.push_back(roles_.dot->group);
    step(Primitive::Pack, {},
         {{c_.buffers[static_cast<size_t>(roles_.right.buffer)].name}, names_of(outer), {across}, inner},
         sizes);
  }

  void tensorize(const std::vector<std::string>& rows, const std::string& columns, const std::string& terms) {
    std::vector<std::string> loops{columns, terms};
    if (roles_.dot->is_of_matrices()) loops.insert(loops.begin(), rows.begin(), rows.end());
    step(Primitive::Tensorize, {}, {loops, {roles_.dot->name}});
  }

  /// Beside the innermost loop of the reduction, which is unrolled already.
  void unroll_windows(const std::string& innermost, const std::string& row_steps) {
    if (!rows_.cut) return;
    const std::vector<std::string> windows = padded_windows();
    for (const std::string& name : windows)
      if (name != innermost) step(Primitive::Unroll, {}, {{name}});
    if (!windows.empty()) step(Primitive::Peel, {}, {{row_steps}});
  }

  /// The loops around the reduction's, outermost first; `steps` are those of the rows of tiles.
  std::vector<std::string> outer_order(const std::vector<std::string>& batch,
                                       const std::vector<std::string>& rows, const std::string& columns,
                                       const std::string& steps) const {
    std::vector<std::string> order = batch;
    if (model_.shares_lines(roles_)) {
      order.insert(order.begin(), rows.begin(), rows.end());
      order.push_back(columns);
      return order;
    }
    const bool outside = model_.columns_outside(roles_);
    if (outside) order.push_back(columns);
    for (const std::string& name : rows) {
      if (!outside && name == steps) order.push_back(columns);
      order.push_back(name);
    }
    if (std::find(order.begin(), order.end(), columns) == order.end()) order.push_back(columns);
    return order;
  }

  /// The loops of a window that moves along the rows of a tile, where much of it is padding at some places:
  /// code that knows the place leaves that out. None where that would be too much code.
  std::vector<std::string> padded_windows() const {
    constexpr int64_t kMostSteps = 1024;
    std::vector<std::string> names;
    int64_t steps = tile_.rows * rows_.inner * tile_.vectors * 4;
    const Reduction& r = c_.reductions[0];
    for (const BoundsCheck& check : roles_.left.checks)
      for (const Dim row : {rows_.cut, rows_.whole}) {
        if (!row || !contains_var(check.index, row)) continue;
        for (size_t k = 0; k < r.vars.size(); ++k) {
          const auto extent = as_const(r.extents[k]);
          if (!extent || !contains_var(check.index, r.vars[k])) continue;
          if (is_padded(check.index, row, r.vars[k], *extent)) names.push_back(nest_.name_of(r.vars[k]));
          steps = std::min(steps, kMostSteps + 1) * std::min(*extent, kMostSteps + 1);
        }
      }
    return steps <= kMostSteps ? names : std::vector<std::string>();
  }

  /// More than the first and the last row of a tile read outside of the tensor, or many terms are padding.
  bool is_padded(Dim index, Dim row, Dim window, int64_t extent) const {
    constexpr int64_t kMostInside = 16;
    const int64_t outside =
        (extent - 1) * ContractionModel::step_of(index, window) / 2 / ContractionModel::step_of(index, row);
    const int64_t terms = outside * (outside + 1);
    return terms > 0 &&
           ((outside > 1 && tile_.rows > 1) || terms * kMostInside >= extent * model_.extent_of(row));
  }

  /// Of many tiles of columns the first and the last read outside of their tensor: masks would cost the
  /// others too.
  bool has_borders() const {
    const Dim column = roles_.columns.back();
    const bool checked =
        std::any_of(roles_.right.checks.begin(), roles_.right.checks.end(),
                    [&](const BoundsCheck& check) { return contains_var(check.index, column); });
    return checked && roles_.columns.size() == 1 && model_.is_known(column) &&
           model_.extent_of(column) > 2 * tile_.vectors * model_.lanes();
  }

  /// Innermost the loop in which the left read moves least, of those that are no shorter than the steps that
  /// are unrolled, or else the longest, or the one that goes in groups; the others as they stand.
  std::vector<std::string> depth_order() const {
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
    std::vector<std::string> names;
    for (size_t k = 0; k < r.vars.size(); ++k)
      if (k != innermost) names.push_back(nest_.name_of(r.vars[k]));
    names.push_back(nest_.name_of(r.vars[innermost]));
    return names;
  }

  const Computation& c_;
  const ContractionModel& model_;
  const Roles& roles_;
  const TileRows rows_;
  const Tile tile_;
  Nest nest_;
  Schedule schedule_;
};

}  // namespace

std::optional<Nest> scheduled_contraction(const Computation& computation, const MachineModel& machine) {
  const ContractionModel model(computation, machine);
  const auto roles = model.cheapest_roles();
  if (!roles) return std::nullopt;
  return ContractionSchedule(computation, model, *roles).run();
}

}  // namespace quern::loops
