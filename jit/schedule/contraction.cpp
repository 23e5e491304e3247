#include "jit/schedule/contraction.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "ir/result.h"

namespace quern::loops {

namespace {

using Vars = std::vector<Dim>;

/// What stands in for an extent that is known at run time only.
constexpr int64_t kUsualExtent = 256;

int64_t extent_or_usual(Dim extent) { return as_const(extent).value_or(kUsualExtent); }

/// The two reads of a contraction. Index variables of the result are `rows` where only the first read depends
/// on them, `columns` where only the second does, and `batch` where both do.
struct Roles {
  Value left, right;
  Vars batch, rows, columns;
  int64_t width = 0;  ///< of a tile of columns, where that is not the tile's to choose
};

/// How many rows and vectors of columns an accumulator tile has.
struct Tile {
  int64_t rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::max();  ///< of all tiles, for a step of the reduction
};

class ContractionRule {
 public:
  ContractionRule(const Computation& computation, const MachineModel& machine)
      : c_(computation), machine_(machine) {}

  std::optional<Nest> run() {
    if (c_.running || c_.scatter || c_.reductions.size() != 1) return std::nullopt;
    const Reduction& r = c_.reductions[0];
    if (r.is_let || is_arg(r.kind) || !r.inner.empty() || r.vars.empty()) return std::nullopt;
    for (const Dim extent : r.extents)
      for (const Dim var : c_.vars)
        if (contains_var(extent, var)) return std::nullopt;
    std::vector<Value> loads;
    for_each_value(r.value, [&](const Value& v) {
      if (v.kind == ValueKind::Load) loads.push_back(v);
    });
    if (loads.size() != 2 || !loads[0].computed.empty() || !loads[1].computed.empty()) return std::nullopt;
    lanes_ = machine_.vector_bytes / static_cast<int64_t>(std::max<size_t>(4, r.accumulator.bytes()));
    if (lanes_ < 2) return std::nullopt;
    double best = std::numeric_limits<double>::max();
    std::optional<Roles> chosen;
    for (const bool swapped : {false, true}) {
      const Roles all = roles_of(loads[swapped ? 1 : 0], loads[swapped ? 0 : 1]);
      for (const Roles& roles : {all, with_one_column(all), with_groups(all)}) {
        if (roles.columns.empty() || !is_worth_it(roles)) continue;
        const double cost = cost_of(roles);
        if (chosen && cost >= best) continue;
        best = cost;
        chosen = roles;
      }
    }
    if (!chosen) return std::nullopt;
    return scheduled(*chosen);
  }

 private:
  Roles roles_of(const Value& left, const Value& right) const {
    Roles roles{left, right, {}, {}, {}};
    for (const Dim var : c_.vars) {
      const bool in_left = depends(left, var), in_right = depends(right, var);
      if (in_right && !in_left)
        roles.columns.push_back(var);
      else
        (in_left && in_right ? roles.batch : roles.rows).push_back(var);
    }
    return roles;
  }

  /// The last column alone in lanes, and loops over the others around everything.
  static Roles with_one_column(Roles roles) {
    if (roles.columns.size() < 2) return {roles.left, roles.right, {}, {}, {}};
    roles.batch.insert(roles.batch.end(), roles.columns.begin(), roles.columns.end() - 1);
    roles.columns.erase(roles.columns.begin(), roles.columns.end() - 1);
    return roles;
  }

  /// Groups that have few columns side by side in lanes: as many as fit, where what they read of the left for
  /// one step of the reduction lies within a vector.
  Roles with_groups(Roles roles) const {
    const Roles none{roles.left, roles.right, {}, {}, {}};
    if (roles.columns.size() != 1 || roles.batch.empty()) return none;
    const Dim group = roles.batch.back(), column = roles.columns[0];
    const auto along = linear_in(roles.left.dim, group);
    const int64_t stride = along ? as_const(along->coefficient).value_or(0) : 0;
    const bool checked =
        std::any_of(roles.left.checks.begin(), roles.left.checks.end(),
                    [&](const BoundsCheck& check) { return contains_var(check.index, group); });
    if (!is_known(group) || !is_known(column) || extent_of(column) < 1 || stride < 1 || checked) return none;
    const int64_t groups =
        std::min({lanes_ / extent_of(column), (lanes_ - 1) / stride + 1, extent_of(group)});
    if (groups < 2) return none;
    roles.width = groups * extent_of(column);
    roles.batch.pop_back();
    roles.columns.insert(roles.columns.begin(), group);
    return roles;
  }
  int64_t width_of(const Roles& roles, int64_t vectors) const {
    return roles.width > 0 ? roles.width : vectors * lanes_;
  }

  static bool depends(const Value& load, Dim var) {
    return contains_var(load.dim, var) ||
           std::any_of(load.checks.begin(), load.checks.end(),
                       [&](const BoundsCheck& c) { return c.index && contains_var(c.index, var); });
  }

  Dim extent_dim(Dim var) const {
    for (size_t k = 0; k < c_.vars.size(); ++k)
      if (c_.vars[k] == var) return c_.extents[k];
    return dim_const(1);
  }
  int64_t extent_of(Dim var) const { return extent_or_usual(extent_dim(var)); }
  int64_t count(const Vars& vars) const {
    return std::accumulate(vars.begin(), vars.end(), int64_t{1},
                           [&](int64_t n, Dim var) { return n * extent_of(var); });
  }
  int64_t depth() const {
    const Reduction& r = c_.reductions[0];
    return std::accumulate(r.extents.begin(), r.extents.end(), int64_t{1},
                           [&](int64_t n, Dim extent) { return n * extent_or_usual(extent); });
  }

  /// Below, the loops around a tile would cost more than they save.
  bool is_worth_it(const Roles& roles) const {
    constexpr int64_t kFewest = 2048;
    return count(roles.columns) * 8 > lanes_ && depth() >= 4 &&
           count(roles.rows) * count(roles.columns) * depth() >= kFewest &&
           (is_packable(roles) || is_dense(roles));
  }

  /// The read along the columns can be given in another form.
  static bool is_packable(const Roles& roles) {
    return roles.right.checks.empty() && roles.left.buffer != roles.right.buffer;
  }
  /// The columns lie side by side in memory.
  bool is_dense(const Roles& roles) const {
    if (roles.columns.size() != 1) return false;
    const auto linear = linear_in(roles.right.dim, roles.columns[0]);
    return linear && is_const(linear->coefficient, 1);
  }

  /// The row loops that a tile is made of: steps of `cut`, and all of `whole`, a short one inside of it.
  struct TileRows {
    Dim cut = nullptr, whole = nullptr;
    int64_t inner = 1;  ///< the extent of `whole`
  };

  /// The innermost row loop; or, where that is short, the one around it with it. Whichever has the cheaper
  /// tiles.
  TileRows tile_rows(const Roles& roles) const {
    constexpr int64_t kShort = 8;
    std::vector<Dim> rows;
    for (const Dim var : roles.rows)
      if (extent_of(var) > 1) rows.push_back(var);
    if (rows.empty()) return {};
    const TileRows one{rows.back(), nullptr, 1};
    const int64_t inner = extent_of(rows.back());
    if (rows.size() < 2 || inner > kShort || !is_known(rows.back())) return one;
    const TileRows two{rows[rows.size() - 2], rows.back(), inner};
    return cycles_of(roles, two) < cycles_of(roles, one) ? two : one;
  }

  bool is_known(Dim var) const { return as_const(extent_dim(var)).has_value(); }

  /// Of all tiles.
  double cycles_of(const Roles& roles, const TileRows& rows) const {
    const int64_t cut = rows.cut ? extent_of(rows.cut) : 1;
    const auto others = static_cast<double>(count(roles.rows)) / static_cast<double>(cut * rows.inner);
    return others * best_tile(roles, rows).cycles * static_cast<double>(depth());
  }

  // --- the tile ---

  /// The cycles of a step: two multiplications and additions of vectors, or two loads, in one; each sum waits
  /// four for the one before; a panel's vectors come from the second cache, or the third where the panel does
  /// not fit. Loads that go with the arithmetic are not quite free.
  double cycles(int64_t rows, int64_t vectors) const {
    // What is read once comes from memory, whatever the tile.
    if (rows == 1)
      return std::max(static_cast<double>(vectors + 1) / 2, 4.0) + 0.05 * static_cast<double>(vectors);
    const auto work = static_cast<double>(rows * vectors) / 2;
    const auto loads = static_cast<double>(rows + vectors) / 2;
    const bool fits = depth() * vectors * machine_.vector_bytes * 4 <= machine_.l2_bytes * 3;
    return std::max({work, loads, 4.0, static_cast<double>(vectors) * (fits ? 2.5 : 6)}) + 0.1 * loads;
  }

  /// Of a step whose rows are each loaded and turned to their lanes.
  static double spread_cycles(int64_t rows) { return std::max(static_cast<double>(rows) * 1.25 + 0.5, 4.0); }

  Tile best_tile(const Roles& roles, const TileRows& tile_rows) const {
    const int64_t rows = tile_rows.cut ? extent_of(tile_rows.cut) : 1, inner = tile_rows.inner;
    const int64_t columns = count(roles.columns);
    Tile best;
    const int64_t registers = machine_.vector_registers;
    for (int64_t vectors = 1; vectors <= 16; ++vectors) {
      if (vectors > 1 && (roles.width > 0 || (vectors - 1) * lanes_ >= columns)) break;
      for (int64_t most = 1;
           most * inner * vectors + vectors + 1 <= registers && most <= std::max<int64_t>(rows, 1); ++most) {
        if (vectors > 4 && most > 1) break;
        double total = 0;
        const auto along_columns = [&](int64_t height) {
          const int64_t width = width_of(roles, vectors), whole = columns / width, rest = columns % width;
          const auto left = static_cast<double>(whole) * cycles(height * inner, vectors);
          if (roles.width > 0)
            return static_cast<double>((columns + width - 1) / width) * spread_cycles(height * inner);
          return rest == 0 ? left : left + cycles(height * inner, (rest + lanes_ - 1) / lanes_);
        };
        const int64_t steps = (rows + most - 1) / most, high = (rows + steps - 1) / steps;
        const int64_t many = rows - steps * (high - 1);
        total += static_cast<double>(many) * along_columns(high);
        if (many < steps) total += static_cast<double>(steps - many) * along_columns(high - 1);
        if (total < best.cycles * 0.999) best = {most, vectors, total};
      }
    }
    return best;
  }

  double cost_of(const Roles& roles) const {
    const int64_t columns = count(roles.columns);
    double cost = cycles_of(roles, tile_rows(roles));
    const int64_t across = (columns + lanes_ - 1) / lanes_;
    const double vectors = static_cast<double>(across) * static_cast<double>(count(roles.rows));
    cost = (cost + vectors * store_cycles(roles)) * static_cast<double>(count(roles.batch));
    if (!is_dense(roles) && repeats(roles)) cost += form_size(roles);
    if (!is_dense(roles) && roles.right.checks.empty()) cost *= 1.001;
    return cost;
  }

  /// Of a vector of the result.
  double store_cycles(const Roles& roles) const {
    Dim step = nullptr, next = nullptr;
    for (size_t k = roles.columns.size(); k-- > 0;) {
      const auto along = linear_in(c_.store_offset, roles.columns[k]);
      if (!along || (next && along->coefficient != next)) return static_cast<double>(lanes_) * 1.25;
      if (!step) step = along->coefficient;
      next = dim_mul(along->coefficient, extent_dim(roles.columns[k]));
    }
    return is_const(step, 1) ? 1 : is_const(step, 2) ? 4 : static_cast<double>(lanes_) * 1.25;
  }

  /// Panels of columns that lie side by side pay where each is read several times, and where they come from
  /// memory: panels stream, and parts of rows that are far apart do not.
  bool is_packed(const Roles& roles, const Tile& tile) const {
    if (!is_packable(roles) || !is_dense(roles)) return is_packable(roles);
    if (repeats(roles)) return false;
    const double bytes = form_size(roles) * static_cast<double>(c_.reductions[0].accumulator.bytes());
    const bool is_large = bytes > 2 * static_cast<double>(machine_.l2_bytes) && roles.batch.empty();
    return is_large || count(roles.rows) > 2 * tile.rows;
  }

  /// Elements of the form that the right read would be given in.
  double form_size(const Roles& roles) const {
    int64_t size = count(roles.columns) * depth();
    for (const Dim var : roles.batch)
      if (depends(roles.right, var)) size *= extent_of(var);
    return static_cast<double>(size);
  }
  /// The form has elements of its tensor more than once: a window moves over the tensor, which is then no
  /// weight that is packed once.
  bool repeats(const Roles& roles) const {
    double size = 1;
    for (const Dim extent : c_.buffers[static_cast<size_t>(roles.right.buffer)].shape)
      size *= static_cast<double>(extent_or_usual(extent));
    return form_size(roles) > 1.5 * size;
  }

  // --- the schedule ---

  static std::vector<std::string> names_of(const Nest& nest, const Vars& vars) {
    std::vector<std::string> names;
    for (const Dim var : vars) names.push_back(nest.name_of(var));
    return names;
  }

  static void step(Schedule& schedule, Primitive primitive, std::vector<std::string> makes,
                   std::vector<std::vector<std::string>> loops, std::vector<int64_t> numbers = {}) {
    schedule.steps.push_back({primitive, std::move(makes), std::move(loops), std::move(numbers)});
  }

  Nest scheduled(const Roles& roles) const {
    Nest nest(c_);
    const std::vector<std::string> batch = names_of(nest, roles.batch),
                                   columns = names_of(nest, roles.columns);
    std::vector<std::string> rows = names_of(nest, roles.rows);
    Schedule schedule;

    std::vector<std::string> order = batch;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    step(schedule, Primitive::Reorder, {}, {order});
    std::string across = columns[0];
    for (size_t k = 1; k < columns.size(); ++k) {
      step(schedule, Primitive::Fuse, {across + columns[k]}, {{across, columns[k]}});
      across += columns[k];
    }

    const TileRows chosen = tile_rows(roles);
    const Dim row = chosen.cut;
    const Tile tile = best_tile(roles, chosen);
    const int64_t width = width_of(roles, tile.vectors);
    const std::vector<std::string> reduced = depth_order(nest, roles);
    if (is_packed(roles, tile)) {
      Vars outer;
      for (const Dim var : roles.batch)
        if (depends(roles.right, var)) outer.push_back(var);
      std::vector<std::string> inner;
      for (const std::string& name : reduced)
        if (depends(roles.right, nest.symbol_of(name))) inner.push_back(name);
      step(schedule, Primitive::Pack, {},
           {{c_.buffers[static_cast<size_t>(roles.right.buffer)].name},
            names_of(nest, outer),
            {across},
            inner},
           {width});
    }

    const std::string outer_columns = across + "o", inner_columns = across + "i";
    step(schedule, Primitive::Split, {outer_columns, inner_columns}, {{across}}, {width});
    std::vector<std::string> tiled;
    if (row) {
      const std::string name = nest.name_of(row);
      step(schedule, Primitive::Split, {name + "o", name + "i"}, {{name}}, {tile.rows});
      *std::find(rows.begin(), rows.end(), name) = name + "o";
      tiled.push_back(name + "i");
    }
    if (chosen.whole) {
      tiled.push_back(nest.name_of(chosen.whole));
      std::erase(rows, tiled.back());
    }
    tiled.push_back(inner_columns);

    order = outer_order(roles, batch, rows, outer_columns, row ? nest.name_of(row) + "o" : "");
    order.insert(order.end(), reduced.begin(), reduced.end());
    order.insert(order.end(), tiled.begin(), tiled.end());
    step(schedule, Primitive::Reorder, {}, {order});
    for (const std::string& name : tiled)
      if (name != inner_columns) step(schedule, Primitive::Unroll, {}, {{name}});
    step(schedule, Primitive::Vectorize, {}, {{inner_columns}}, {lanes_});
    const int64_t innermost = extent_or_usual(nest.extent_of(reduced.back()));
    if (innermost > 1)
      step(schedule, Primitive::Unroll, {}, {{reduced.back()}}, {innermost <= 8 ? innermost : 4});
    if (row) {
      const std::vector<std::string> windows = padded_windows(nest, roles, chosen, tile);
      for (const std::string& name : windows)
        if (name != reduced.back()) step(schedule, Primitive::Unroll, {}, {{name}});
      if (!windows.empty()) step(schedule, Primitive::Peel, {}, {{nest.name_of(row) + "o"}});
    }
    if (has_borders(roles, tile)) step(schedule, Primitive::Peel, {}, {{outer_columns}});
    QUERN_CHECK(nest.apply(schedule));
    if (const std::string shared = nest.shared_loop(); !shared.empty())
      QUERN_CHECK(nest.apply({Primitive::Parallel, {}, {{shared}}, {}}));
    QUERN_CHECK(nest.is_complete());
    return nest;
  }

  /// The loops around the reduction's, outermost first; `steps` are those of the rows of tiles.
  std::vector<std::string> outer_order(const Roles& roles, const std::vector<std::string>& batch,
                                       const std::vector<std::string>& rows, const std::string& columns,
                                       const std::string& steps) const {
    std::vector<std::string> order = batch;
    if (shares_lines(roles)) {
      order.insert(order.begin(), rows.begin(), rows.end());
      order.push_back(columns);
      return order;
    }
    const bool outside = columns_outside(roles);
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
  std::vector<std::string> padded_windows(const Nest& nest, const Roles& roles, const TileRows& rows,
                                          const Tile& tile) const {
    constexpr int64_t kMostSteps = 1024;
    std::vector<std::string> names;
    int64_t steps = tile.rows * rows.inner * tile.vectors * 4;
    const Reduction& r = c_.reductions[0];
    for (const BoundsCheck& check : roles.left.checks)
      for (const Dim row : {rows.cut, rows.whole}) {
        if (!row || !contains_var(check.index, row)) continue;
        for (size_t k = 0; k < r.vars.size(); ++k) {
          const auto extent = as_const(r.extents[k]);
          if (!extent || !contains_var(check.index, r.vars[k])) continue;
          if (is_padded(check.index, row, r.vars[k], *extent, tile)) names.push_back(nest.name_of(r.vars[k]));
          steps *= *extent;
        }
      }
    return steps <= kMostSteps ? names : std::vector<std::string>();
  }

  /// More than the first and the last row of a tile read outside of the tensor, or many terms are padding.
  bool is_padded(Dim index, Dim row, Dim window, int64_t extent, const Tile& tile) const {
    constexpr int64_t kMostInside = 16;
    const int64_t outside = (extent - 1) * step_of(index, window) / 2 / step_of(index, row);
    const int64_t terms = outside * (outside + 1);
    return terms > 0 && ((outside > 1 && tile.rows > 1) || terms * kMostInside >= extent * extent_of(row));
  }

  /// Of many tiles of columns the first and the last read outside of their tensor: masks would cost the
  /// others too.
  bool has_borders(const Roles& roles, const Tile& tile) const {
    const Dim column = roles.columns.back();
    const bool checked =
        std::any_of(roles.right.checks.begin(), roles.right.checks.end(),
                    [&](const BoundsCheck& check) { return contains_var(check.index, column); });
    return checked && roles.columns.size() == 1 && is_known(column) &&
           extent_of(column) > 2 * tile.vectors * lanes_;
  }

  /// By how much the index grows with the variable; 1 where that is no constant.
  static int64_t step_of(Dim index, Dim var) {
    const auto linear = linear_in(index, var);
    return linear ? std::max<int64_t>(1, std::abs(as_const(linear->coefficient).value_or(1))) : 1;
  }

  /// Innermost the loop in which the left read moves least, of those that are no shorter than the steps that
  /// are unrolled, or else the longest; the others as they stand.
  std::vector<std::string> depth_order(const Nest& nest, const Roles& roles) const {
    constexpr int64_t kUnrolled = 3, kFar = int64_t{1} << 40;
    const Reduction& r = c_.reductions[0];
    const auto distance = [&](size_t k) {
      const auto along = linear_in(roles.left.dim, r.vars[k]);
      const auto stride = along ? as_const(along->coefficient) : std::nullopt;
      const int64_t extent = extent_or_usual(r.extents[k]);
      return std::pair(extent < kUnrolled ? kFar : std::abs(stride.value_or(kFar - 1)), -extent);
    };
    size_t innermost = r.vars.size() - 1;
    for (size_t k = r.vars.size(); k-- > 0;)
      if (distance(k) < distance(innermost)) innermost = k;
    std::vector<std::string> names;
    for (size_t k = 0; k < r.vars.size(); ++k)
      if (k != innermost) names.push_back(nest.name_of(r.vars[k]));
    names.push_back(nest.name_of(r.vars[innermost]));
    return names;
  }

  /// What the left read needs for one of the batch lies between what it needs for others, as channels of a
  /// group between those of other groups: a pass over all rows for each would read every line many times.
  bool shares_lines(const Roles& roles) const {
    if (roles.rows.empty()) return false;
    const auto stride_of = [&](Dim var) {
      const auto along = linear_in(roles.left.dim, var);
      return along ? as_const(along->coefficient).value_or(0) : 0;
    };
    const auto bytes = static_cast<double>(c_.reductions[0].accumulator.bytes());
    Vars groups = roles.batch;
    if (roles.width > 0) groups.push_back(roles.columns[0]);
    const bool inside = std::any_of(groups.begin(), groups.end(), [&](Dim var) {
      return stride_of(var) > 0 && stride_of(var) < stride_of(roles.rows[0]);
    });
    return inside && form_size(roles) * bytes < static_cast<double>(machine_.l2_bytes / 4);
  }

  /// Whether all rows are done for a panel of columns before the next: where what the rows read stays in the
  /// cache, or the panels would not.
  bool columns_outside(const Roles& roles) const {
    const auto bytes = static_cast<int64_t>(c_.reductions[0].accumulator.bytes());
    const int64_t left = count(roles.rows) * depth() * bytes, right = count(roles.columns) * depth() * bytes;
    return right > machine_.l2_bytes / 2 || left < right;
  }

  const Computation& c_;
  const MachineModel& machine_;
  int64_t lanes_ = 1;
};

}  // namespace

std::optional<Nest> scheduled_contraction(const Computation& computation, const MachineModel& machine) {
  return ContractionRule(computation, machine).run();
}

}  // namespace quern::loops
