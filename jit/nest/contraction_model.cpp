#include "jit/nest/contraction_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "jit/nest/dot.h"

namespace quern::loops {

int64_t extent_or_usual(Dim extent) {
  constexpr int64_t kUsual = 256;
  return as_const(extent).value_or(kUsual);
}

int64_t times(int64_t a, int64_t b) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const bool is_huge = b != 0 && a > kHuge / b;
  return is_huge ? kHuge : a * b;
}

ContractionModel::ContractionModel(const Computation& computation, const MachineModel& machine)
    : c_(computation), machine_(machine) {
  if (c_.reductions.empty()) return;
  const size_t bytes = std::max<size_t>(4, c_.reductions[0].accumulator.bytes());
  lanes_ = machine_.vector_bytes / static_cast<int64_t>(bytes);
}

std::optional<Roles> ContractionModel::cheapest_roles() const {
  if (c_.running || c_.scatter || c_.reductions.size() != 1 || lanes_ < 2) return std::nullopt;
  const Reduction& r = c_.reductions[0];
  if (r.is_let || is_arg(r.kind) || !r.inner.empty() || r.vars.empty()) return std::nullopt;
  for (const Dim extent : r.extents)
    for (const Dim var : c_.vars)
      if (contains_var(extent, var)) return std::nullopt;
  std::vector<LoadValue> loads;
  for_each<LoadValue>(r.value, [&](const LoadValue& load) { loads.push_back(load); });
  if (loads.size() != 2 || !loads[0].computed.empty() || !loads[1].computed.empty()) return std::nullopt;
  double best = std::numeric_limits<double>::max();
  std::optional<Roles> chosen;
  for (const bool swapped : {false, true}) {
    const Roles all = roles_of(loads[swapped ? 1 : 0], loads[swapped ? 0 : 1]);
    for (const Roles& roles : {all, with_one_column(all), with_groups(all)}) {
      if (roles.columns.empty() || !is_worth_it(roles) || reads_rows_once(roles)) continue;
      // Operators write data before weights, and data is packed in each call, weights once; but the form of a weight takes
      // memory, and delays the first call.
      constexpr double kCalls = 16;
      const bool is_fresh = swapped || buffer_of(roles.right).is_fresh;
      const double cost = cost_of(roles) + cost_of_form(roles) / (is_fresh ? 1 : kCalls);
      if (chosen && cost >= best) continue;
      best = cost;
      chosen.emplace(roles);
    }
  }
  return chosen;
}

Roles ContractionModel::roles_of(const LoadValue& left, const LoadValue& right) const {
  Roles roles{left, right, {}, {}, {}};
  for (const Dim var : c_.vars) {
    const bool in_left = depends(left, var), in_right = depends(right, var);
    if (in_right && !in_left)
      roles.columns.push_back(var);
    else
      (in_left && in_right ? roles.batch : roles.rows).push_back(var);
  }
  set_dot(roles);
  return roles;
}

void ContractionModel::set_dot(Roles& roles) const {
  const Reduction& r = c_.reductions[0];
  if (r.kind != ReduceKind::Sum || !is_packable(roles)) return;
  const DType left = roles.left.dtype, right = roles.right.dtype;
  if (left.bits >= r.accumulator.bits || right.bits >= r.accumulator.bits) return;
  for (const DotIntrinsicPtr& dot : machine_.dots) {
    if (dot->lanes != lanes_ || dot->accumulator != r.accumulator) continue;
    const bool turns_sign = left == right && dot->a != dot->b;
    DotIntrinsic taken = *dot;
    if (turns_sign) (left == dot->a ? taken.b : taken.a) = left;
    const Dim grouped = dot_factors(r.value, taken) ? grouped_along(roles.left, dot->group) : nullptr;
    const int64_t terms = grouped ? terms_of(roles, *dot, grouped) : 0;
    if (terms == 0 || (turns_sign && left.bits != 8)) continue;
    roles.dot = dot;
    roles.grouped = grouped;
    roles.terms = terms;
    roles.turns_sign = turns_sign;
    return;
  }
}

/// The reduction's index along which the read has contiguous neighbours that all count or none do; or null.
Dim ContractionModel::grouped_along(const LoadValue& left, int group) const {
  const Reduction& r = c_.reductions[0];
  for (size_t k = 0; k < r.vars.size(); ++k) {
    const auto along = linear_in(left.offset, r.vars[k]);
    const bool tested = std::any_of(r.checks.begin(), r.checks.end(), [&](const BoundsCheck& c) {
      return c.computed || contains_var(c.index, r.vars[k]);
    });
    const bool counts = std::all_of(left.checks.begin(), left.checks.end(),
                                    [&](const BoundsCheck& c) { return contains(r.checks, c); });
    if (along && is_const(along->coefficient, 1) && !tested && counts &&
        as_const(r.extents[k]).value_or(group) >= group)
      return r.vars[k];
  }
  return nullptr;
}

/// The number of reduction steps that the intrinsic takes at once; 0 if another one is better. Matrices
/// require a number without a remainder, many rows, a known number of columns, and that skipped terms are
/// products with 0.
int64_t ContractionModel::terms_of(const Roles& roles, const DotIntrinsic& dot, Dim grouped) const {
  if (!dot.is_of_matrices()) return dot.group;
  constexpr int64_t kFewestGroups = 4, kFewestRows = 8;
  const Reduction& r = c_.reductions[0];
  const Dim row = roles.rows.empty() ? nullptr : roles.rows.back();
  const auto is_known = [&](Dim var) { return this->is_known(var); };
  if (roles.left.dtype != dot.a || roles.right.dtype != dot.b || !row || extent_of(row) < kFewestRows ||
      !std::ranges::all_of(roles.columns, is_known))
    return 0;
  for (const BoundsCheck& check : r.checks)
    if (!contains(roles.left.checks, check) || (r.accumulator.is_float() && contains_var(check.index, row)))
      return 0;
  const auto at = std::ranges::find(r.vars, grouped) - r.vars.begin();
  const auto extent = as_const(r.extents[static_cast<size_t>(at)]);
  for (int64_t groups = dot.steps; extent && groups >= kFewestGroups; --groups)
    if (*extent % (groups * dot.group) == 0) return groups * dot.group;
  return 0;
}

Roles ContractionModel::with_one_column(Roles roles) {
  if (roles.columns.size() < 2) return {roles.left, roles.right, {}, {}, {}};
  roles.batch.insert(roles.batch.end(), roles.columns.begin(), roles.columns.end() - 1);
  roles.columns.erase(roles.columns.begin(), roles.columns.end() - 1);
  return roles;
}

Roles ContractionModel::with_groups(Roles roles) const {
  Roles none{roles.left, roles.right, {}, {}, {}};
  if (roles.columns.size() != 1 || roles.batch.empty()) return none;
  const Dim group = roles.batch.back(), column = roles.columns[0];
  const auto along = linear_in(roles.left.offset, group);
  const int64_t stride = along ? as_const(along->coefficient).value_or(0) : 0;
  const bool checked =
      std::any_of(roles.left.checks.begin(), roles.left.checks.end(),
                  [&](const BoundsCheck& check) { return contains_var(check.index, group); });
  if (!is_known(group) || !is_known(column) || extent_of(column) < 1 || stride < 1 || checked) return none;
  const int64_t groups = std::min({lanes_ / extent_of(column), (lanes_ - 1) / stride + 1, extent_of(group)});
  if (groups < 2) return none;
  roles.width = groups * extent_of(column);
  roles.dot = nullptr;
  roles.terms = 1;
  roles.turns_sign = false;
  roles.batch.pop_back();
  roles.columns.insert(roles.columns.begin(), group);
  return roles;
}

int64_t ContractionModel::width_of(const Roles& roles, int64_t vectors) const {
  return roles.width > 0 ? roles.width : vectors * lanes_;
}

bool ContractionModel::depends(const LoadValue& load, Dim var) {
  return contains_var(load.offset, var) ||
         std::any_of(load.checks.begin(), load.checks.end(),
                     [&](const BoundsCheck& c) { return c.index && contains_var(c.index, var); });
}

Dim ContractionModel::extent_dim(Dim var) const {
  for (size_t k = 0; k < c_.vars.size(); ++k)
    if (c_.vars[k] == var) return c_.extents[k];
  return dim_const(1);
}

int64_t ContractionModel::extent_of(Dim var) const { return extent_or_usual(extent_dim(var)); }

int64_t ContractionModel::count(const Vars& vars) const {
  return std::accumulate(vars.begin(), vars.end(), int64_t{1},
                         [&](int64_t n, Dim var) { return times(n, extent_of(var)); });
}

int64_t ContractionModel::depth() const {
  const Reduction& r = c_.reductions[0];
  return std::accumulate(r.extents.begin(), r.extents.end(), int64_t{1},
                         [&](int64_t n, Dim extent) { return times(n, extent_or_usual(extent)); });
}

int64_t ContractionModel::depth(const Roles& roles) const {
  return (depth() + roles.terms - 1) / roles.terms;
}

bool ContractionModel::is_worth_it(const Roles& roles) const {
  constexpr int64_t kFewest = 2048;
  return count(roles.columns) * 8 > lanes_ && depth() >= 4 &&
         times(times(count(roles.rows), count(roles.columns)), depth()) >= kFewest &&
         (is_packable(roles) || is_dense(roles));
}

/// Whether each element of the right factor is read once, in memory order: lanes along the reduction are as
/// fast, and every new tensor would need a form.
bool ContractionModel::reads_rows_once(const Roles& roles) const {
  const Reduction& r = c_.reductions[0];
  if (roles.dot || count(roles.rows) > 1 || extent_or_usual(r.extents.back()) < 8 * lanes_) return false;
  const auto is_line = [&](const LoadValue& load) {
    const auto along = linear_in(load.offset, r.vars.back());
    return along && (is_const(along->coefficient, 1) || is_const(along->coefficient, 0));
  };
  return is_line(roles.left) && is_line(roles.right) && depends(roles.right, r.vars.back());
}

bool ContractionModel::is_packable(const Roles& roles) {
  return roles.right.checks.empty() && roles.left.buffer != roles.right.buffer;
}

bool ContractionModel::is_dense(const Roles& roles) const {
  if (roles.columns.size() != 1) return false;
  const auto linear = linear_in(roles.right.offset, roles.columns[0]);
  return linear && is_const(linear->coefficient, 1);
}

TileRows ContractionModel::tile_rows(const Roles& roles) const {
  constexpr int64_t kShort = 8;
  std::vector<Dim> rows;
  for (const Dim var : roles.rows)
    if (extent_of(var) > 1) rows.push_back(var);
  if (rows.empty()) return {};
  const TileRows one{rows.back(), nullptr, 1};
  const int64_t inner = extent_of(rows.back());
  if (rows.size() < 2 || (roles.dot && roles.dot->is_of_matrices()) || inner > kShort ||
      !is_known(rows.back()))
    return one;
  // Each row of a window that crosses the border of an image takes a mask of its own, and reads a line of its own.
  const auto crosses = [&](Dim row) {
    return std::ranges::any_of(roles.left.checks,
                               [&](const BoundsCheck& check) { return contains_var(check.index, row); });
  };
  if (crosses(rows.back()) && !machine_.has_many_registers()) {
    const auto inside = std::ranges::find_if(rows, [&](Dim row) {
      return !crosses(row) && extent_of(row) > kShort && is_known(row) &&
             step_of(roles.left.offset, row) == 1;
    });
    if (inside != rows.end()) return {*inside, nullptr, 1};
  }
  const TileRows two{rows[rows.size() - 2], rows.back(), inner};
  return cycles_of(roles, two) < cycles_of(roles, one) ? two : one;
}

bool ContractionModel::is_known(Dim var) const { return as_const(extent_dim(var)).has_value(); }

double ContractionModel::cycles_of(const Roles& roles, const TileRows& rows) const {
  const int64_t cut = rows.cut ? extent_of(rows.cut) : 1;
  const auto others = static_cast<double>(count(roles.rows)) / static_cast<double>(cut * rows.inner);
  return others * best_tile(roles, rows).cycles * static_cast<double>(depth(roles));
}

/// Per term taken at once: a product takes one cycle per row of the left matrix, and a load one per two rows
/// (Intel's optimization manual, chapter 20).
double ContractionModel::cycles_of_matrices(int64_t rows, int64_t vectors) {
  constexpr double kRows = 16;
  const auto beside = static_cast<double>(vectors), all = static_cast<double>(rows);
  return std::max(all * beside, (all + kRows * beside) / 2) + 0.1 * (all + beside);
}

double ContractionModel::cycles(const Roles& roles, int64_t rows, int64_t vectors) const {
  if (roles.dot && roles.dot->is_of_matrices()) return cycles_of_matrices(rows, vectors);
  // Data read once comes from memory, whatever the tile.
  if (rows == 1 && count(roles.rows) == 1)
    return std::max(static_cast<double>(vectors + 1) / 2, 4.0) + 0.05 * static_cast<double>(vectors);
  const auto work = static_cast<double>(rows * vectors) / 2;
  const auto loads = static_cast<double>(rows + vectors) / 2;
  return std::max({work, loads, 4.0, static_cast<double>(vectors) * panel_cycles(roles, vectors)}) +
         0.1 * loads + far_cycles(roles, rows);
}

double ContractionModel::panel_cycles(const Roles& roles, int64_t vectors) const {
  const int64_t bytes = depth(roles) * machine_.vector_bytes;
  const int64_t all = bytes * ((count(roles.columns) + lanes_ - 1) / lanes_);
  if (all * 2 <= machine_.l1_bytes) return 0.5;
  return bytes * vectors * 4 <= machine_.l2_bytes * 3 ? 2.5 : 6;
}

double ContractionModel::far_cycles(const Roles& roles, int64_t rows) const {
  constexpr int64_t kLine = 64, kFewest = 3;
  constexpr double kCycles = 4;
  if (rows < 2) return 0;
  const LoadValue& left = roles.left;
  const auto bytes = static_cast<int64_t>(left.dtype.bytes());
  const auto stride = [&](Dim var) {
    const auto along = linear_in(left.offset, var);
    return std::abs(along ? as_const(along->coefficient).value_or(0) : 0) * bytes;
  };
  const Reduction& r = c_.reductions[0];
  int64_t nearest = std::numeric_limits<int64_t>::max();
  for (size_t k = 0; k < r.vars.size(); ++k)
    if (extent_or_usual(r.extents[k]) >= kFewest) nearest = std::min(nearest, stride(r.vars[k]));
  const auto size = as_const(dim_product(buffer_of(left).shape)).value_or(0) * bytes;
  const bool is_far = stride(roles.rows.back()) >= kLine && nearest >= kLine && size > machine_.l2_bytes;
  return is_far ? kCycles * static_cast<double>(rows) : 0;
}

double ContractionModel::spread_cycles(int64_t rows) {
  return std::max(static_cast<double>(rows) * 1.25 + 0.5, 4.0);
}

bool ContractionModel::fits_registers(const Roles& roles, int64_t rows, int64_t vectors) const {
  if (roles.dot && roles.dot->is_of_matrices())
    return DotIntrinsic::has_registers((rows + roles.dot->rows - 1) / roles.dot->rows, vectors);
  // Where the left factor is loaded and one term takes it, LLVM puts that term's sum in its register, which rotates
  // the accumulators.
  const int64_t loaded = machine_.has_many_registers() ? 1 : vectors == 1 ? 4 : 2;
  return rows * vectors + vectors + loaded <= machine_.vector_registers;
}

/// Per term taken at once, for a tile of matrices: configuring its registers, and moving their contents
/// through memory.
double ContractionModel::settle_cycles(const Roles& roles, int64_t rows, int64_t vectors) const {
  if (!roles.dot || !roles.dot->is_of_matrices()) return 0;
  constexpr double kShapes = 30;
  return (kShapes + 2 * static_cast<double>(rows * vectors)) / static_cast<double>(depth(roles));
}

Tile ContractionModel::best_tile(const Roles& roles, const TileRows& tile_rows) const {
  const int64_t rows = tile_rows.cut ? extent_of(tile_rows.cut) : 1, inner = tile_rows.inner;
  const int64_t columns = count(roles.columns);
  Tile best;
  for (int64_t vectors = 1; vectors <= 16; ++vectors) {
    if (vectors > 1 && (roles.width > 0 || (vectors - 1) * lanes_ >= columns)) break;
    for (int64_t most = 1; fits_registers(roles, most * inner, vectors) && most <= std::max<int64_t>(rows, 1);
         ++most) {
      if (vectors > 4 && most > 1) break;
      double total = 0;
      const auto along_columns = [&](int64_t height) {
        const int64_t width = width_of(roles, vectors), whole = columns / width, rest = columns % width;
        const double store = store_cycles(roles, tile_rows, height) / static_cast<double>(depth(roles));
        const auto tile = [&](int64_t across) {
          const int64_t high = height * inner;
          return (roles.width > 0 ? spread_cycles(high) : cycles(roles, high, across)) +
                 static_cast<double>(high * across) * store + settle_cycles(roles, high, across);
        };
        const auto left = static_cast<double>(whole) * tile(vectors);
        return rest == 0 ? left : left + tile((rest + lanes_ - 1) / lanes_);
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

double ContractionModel::cost_of(const Roles& roles) const {
  double cost = cycles_of(roles, tile_rows(roles)) * static_cast<double>(count(roles.batch));
  // The last columns leave lanes empty, and padding is masked everywhere.
  constexpr double kUnknownColumns = 1.15, kUnknownBorders = 1.15;
  const auto is_padded = [&](const BoundsCheck& check) {
    return std::ranges::any_of(roles.columns,
                               [&](Dim var) { return check.index && contains_var(check.index, var); });
  };
  if (std::ranges::none_of(roles.columns, [&](Dim var) { return is_known(var); }))
    cost *= kUnknownColumns * (std::ranges::any_of(roles.right.checks, is_padded) ? kUnknownBorders : 1);
  if (!is_dense(roles) && repeats(roles)) cost += form_size(roles);
  if (!is_dense(roles) && roles.right.checks.empty()) cost *= 1.001;
  return cost;
}

double ContractionModel::cost_of_form(const Roles& roles) const {
  constexpr double kNear = 1,
                   kFar = 2;  // cycles per element: a load and a part of a transpose and of a store
  if (is_dense(roles) || !roles.right.checks.empty()) return 0;
  return (is_far(buffer_of(roles.right)) ? kFar : kNear) * form_size(roles);
}

Dim ContractionModel::stride_of_store(Dim var) const {
  const auto along = linear_in(c_.store_offset, var);
  return along ? along->coefficient : nullptr;
}

Dim ContractionModel::stored_apart(const Roles& roles) const {
  Dim step = nullptr, next = nullptr;
  for (size_t k = roles.columns.size(); k-- > 0;) {
    const Dim stride = stride_of_store(roles.columns[k]);
    if (!stride || (next && stride != next)) return nullptr;
    if (!step) step = stride;
    next = dim_mul(stride, extent_dim(roles.columns[k]));
  }
  return step;
}

int64_t ContractionModel::stored_run(const Roles& roles) const {
  const Dim column = roles.columns.back(), stride = stride_of_store(column);
  return stride && is_const(stride, 1) && is_known(column) ? std::gcd(lanes_, extent_of(column)) : 1;
}

Dim ContractionModel::stored_along(const Roles& roles, const TileRows& tile_rows) const {
  const Dim apart = stored_apart(roles);
  if (apart && (is_const(apart, 1) || is_const(apart, 2))) return nullptr;
  const int64_t run = stored_run(roles);
  for (const Dim row : {tile_rows.whole, tile_rows.cut}) {
    const Dim stride = row ? stride_of_store(row) : nullptr;
    const bool follows = stride && (is_const(stride, run) || (run == 1 && is_const(stride, 2)));
    if (follows && extent_of(row) > 1 && run < lanes_) return row;
  }
  return nullptr;
}

bool ContractionModel::follow_each_other(const TileRows& tile_rows) const {
  const Dim outer = stride_of_store(tile_rows.cut), inner = stride_of_store(tile_rows.whole);
  return outer && inner && outer == dim_mul(inner, dim_const(tile_rows.inner));
}

double ContractionModel::store_cycles(const Roles& roles, const TileRows& tile_rows, int64_t rows) const {
  const Dim apart = stored_apart(roles);
  if (apart && is_const(apart, 1)) return 1;
  if (apart && is_const(apart, 2)) return 4;
  const auto lanes = static_cast<double>(lanes_), runs = lanes / static_cast<double>(stored_run(roles));
  const Dim along = stored_along(roles, tile_rows);
  if (!along) return runs * 1.25;
  const auto turned = static_cast<double>(along == tile_rows.whole ? tile_rows.inner : rows);
  const double store = is_const(stride_of_store(along), 2) && runs == lanes ? 3 : 1;
  return std::ceil(turned / runs) * (runs * store + runs * std::log2(runs) / 2) / turned;
}

}  // namespace quern::loops
