#include "jit/rules/winograd.h"

#include <algorithm>
#include <cmath>

#include "ir/base/result.h"
#include "jit/compute/statements.h"
#include "jit/nest/nest.h"
#include "jit/rules/winograd_tables.h"

namespace quern::loops {

namespace {

using Values = std::vector<ValuePtr>;

Dim number(int64_t value) { return dim_const(value); }
Dim plus(Dim a, int64_t b) { return dim_add(a, number(b)); }
Dim times(Dim a, int64_t b) { return dim_mul(a, number(b)); }

ValuePtr load(int buffer, Dim offset) { return load_of(buffer, DType::float32(), offset); }

StmtPtr store(int buffer, Dim offset, ValuePtr value) {
  return make(Store{.buffer = buffer, .offset = offset, .value = std::move(value)});
}

/// Linear combinations of values, as statements that declare locals.
class Combiner {
 public:
  Combiner(Block& body, int& locals) : body_(body), locals_(locals) {}

  ValuePtr local(ValuePtr value) {
    body_.push_back(declare(locals_, DType::float32(), std::move(value)));
    return value_of(locals_++, DType::float32());
  }

  /// matrix * values. Rows that differ only in signs share their sums.
  Values times(const Matrix& matrix, const Values& values) {
    Values results(matrix.size());
    for (size_t r = 0; r < matrix.size(); ++r) {
      if (results[r]) continue;
      if (r + 1 < matrix.size() && differ_in_signs(matrix[r], matrix[r + 1])) {
        std::vector<double> same(matrix[r]), turned(matrix[r]);
        for (size_t k = 0; k < same.size(); ++k) (matrix[r][k] == matrix[r + 1][k] ? turned : same)[k] = 0;
        const ValuePtr a = local(sum(same, values)), b = local(sum(turned, values));
        results[r] = local(apply(ScalarOp::Add, {a, b}));
        results[r + 1] = local(apply(ScalarOp::Sub, {a, b}));
      } else {
        results[r] = local(sum(matrix[r], values));
      }
    }
    return results;
  }

  /// left * values * right^T, where values[r * columns + c].
  Values both_sides(const Matrix& matrix, const Values& values) {
    const size_t rows = matrix.size(), inner = matrix[0].size();
    std::vector<Values> columns;
    for (size_t c = 0; c < inner; ++c) {
      Values column;
      for (size_t r = 0; r < inner; ++r) column.push_back(values[r * inner + c]);
      columns.push_back(times(matrix, column));
    }
    Values results;
    for (size_t r = 0; r < rows; ++r) {
      Values row;
      for (size_t c = 0; c < inner; ++c) row.push_back(columns[c][r]);
      const Values done = times(matrix, row);
      results.insert(results.end(), done.begin(), done.end());
    }
    return results;
  }

 private:
  static bool differ_in_signs(const std::vector<double>& a, const std::vector<double>& b) {
    size_t same = 0, turned = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      if (a[k] == 0 && b[k] == 0) continue;
      if (a[k] != b[k] && a[k] != -b[k]) return false;
      ++(a[k] == b[k] ? same : turned);
    }
    return same > 0 && turned > 0;
  }

  /// sum over k of factors[k] * values[k]; a common factor is applied to the sum.
  static ValuePtr sum(const std::vector<double>& factors, const Values& values) {
    double common = 0;
    for (const double f : factors)
      if (f != 0) common = common == 0 || common == std::fabs(f) ? std::fabs(f) : -1;
    ValuePtr total;
    bool is_negative = false;
    for (size_t k = 0; k < factors.size(); ++k) {
      if (factors[k] == 0) continue;
      const double f = common > 0 ? factors[k] / common : factors[k];
      const ValuePtr term = std::fabs(f) == 1 ? values[k] : scaled(values[k], std::fabs(f));
      if (!total) {
        total = term;
        is_negative = f < 0;
      } else if (is_negative && f > 0) {
        total = apply(ScalarOp::Sub, {term, total});
        is_negative = false;
      } else {
        total = apply((f < 0) == is_negative ? ScalarOp::Add : ScalarOp::Sub, {total, term});
      }
    }
    if (is_negative) total = apply(ScalarOp::Neg, {total});
    return common > 0 && common != 1 ? scaled(total, common) : total;
  }

  static ValuePtr scaled(const ValuePtr& value, double factor) {
    return apply(ScalarOp::Mul, {value, constant(Scalar::from_double(DType::float32(), factor))});
  }

  Block& body_;
  int& locals_;
};

/// The roles of a convolution's index variables: the result's image, row, column and filter, and the window's
/// row, column and channel.
struct Roles {
  LoadValue data, weight;
  Dim image = nullptr, y = nullptr, x = nullptr, filter = nullptr;
  Dim r = nullptr, s = nullptr, channel = nullptr;
  int64_t images = 1, height = 0, width = 0, filters = 0, channels = 0;
};

std::optional<int64_t> stride_of(Dim offset, Dim var) {
  const auto linear = linear_in(offset, var);
  return linear ? as_const(linear->coefficient) : std::nullopt;
}

class RoleFinder {
 public:
  explicit RoleFinder(const Computation& c) : c_(c) {}

  std::optional<Roles> run() {
    if (c_.running || c_.scatter || !c_.dims.empty() || c_.reductions.size() != 1) return std::nullopt;
    const Reduction& sum = c_.reductions[0];
    if (sum.is_let || sum.kind != ReduceKind::Sum || !sum.inner.empty() || sum.vars.size() != 3 ||
        sum.accumulator != DType::float32() || c_.buffers.back().dtype != DType::float32())
      return std::nullopt;
    auto* product = as<ApplyValue>(sum.value);
    if (!product || product->op != ScalarOp::Mul) return std::nullopt;
    auto* first = as<LoadValue>(product->args[0]);
    auto* second = as<LoadValue>(product->args[1]);
    if (!first || !second) return std::nullopt;
    const auto roles = roles_of(*first, *second, sum);
    return roles ? roles : roles_of(*second, *first, sum);
  }

 private:
  static bool is_plain(const LoadValue& load) {
    return load.computed.empty() && load.dtype == DType::float32();
  }

  std::optional<Roles> roles_of(const LoadValue& data, const LoadValue& weight, const Reduction& sum) {
    if (!is_plain(data) || !is_plain(weight) || !weight.checks.empty() || data.buffer == weight.buffer)
      return std::nullopt;
    auto* padding = as<ConstValue>(data.otherwise);
    if (data.otherwise && (!padding || padding->constant.as_double() != 0)) return std::nullopt;
    Roles roles{data, weight};
    for (size_t k = 0; k < c_.vars.size(); ++k) {
      const auto extent = as_const(c_.extents[k]);
      const bool in_data = contains_var(data.offset, c_.vars[k]),
                 in_weight = contains_var(weight.offset, c_.vars[k]);
      if (!extent || in_data == in_weight) return std::nullopt;
      if (in_weight && !std::exchange(roles.filter, c_.vars[k])) {
        roles.filters = *extent;
      } else if (in_weight || !place(roles, c_.vars[k], *extent, sum)) {
        return std::nullopt;
      }
    }
    for (size_t k = 0; k < sum.vars.size(); ++k)
      if (sum.vars[k] != roles.r && sum.vars[k] != roles.s) {
        roles.channel = sum.vars[k];
        roles.channels = as_const(sum.extents[k]).value_or(0);
      }
    const bool is_whole = roles.filter && roles.y && roles.x && roles.channels > 0;
    return is_whole && stride_of(data.offset, roles.channel) == 1 &&
                   stride_of(c_.store_offset, roles.filter) == 1
               ? std::optional(roles)
               : std::nullopt;
  }

  /// Assigns a variable that only the data uses: a window's row or column, with the same stride, or an
  /// image's.
  static bool place(Roles& roles, Dim var, int64_t extent, const Reduction& sum) {
    const auto stride = stride_of(roles.data.offset, var);
    for (size_t k = 0; k < sum.vars.size(); ++k) {
      if (!stride || stride_of(roles.data.offset, sum.vars[k]) != stride || !is_const(sum.extents[k], 3))
        continue;
      if (!roles.y) {
        roles.y = var;
        roles.r = sum.vars[k];
        roles.height = extent;
        return true;
      }
      if (roles.x || sum.vars[k] == roles.r) return false;
      roles.x = var;
      roles.s = sum.vars[k];
      roles.width = extent;
      return true;
    }
    if (std::exchange(roles.image, var)) return false;
    roles.images = extent;
    return true;
  }

  const Computation& c_;
};

/// Vectors of filters in a register tile and in a panel of weights.
constexpr int64_t kVectors = 2;

/// The blocking of tiles and filters: blocks of `rows` tiles (rows of matrices), in each of which panels of
/// `panel` filters are processed for every point of the transformed tiles.
struct Blocks {
  int64_t tiles;   ///< in all
  int64_t rows;    ///< tiles per block, the rows of a register tile
  int64_t blocks;  ///< in all
};

Blocks blocks_of(const Roles& roles, int tile, const MachineModel& machine) {
  const auto across = [&](int64_t extent) { return (extent + tile - 1) / tile; };
  const int64_t tiles = roles.images * across(roles.height) * across(roles.width);
  const int64_t most = (machine.vector_registers - kVectors - 1) / kVectors;
  Blocks best{tiles, most, (tiles + most - 1) / most};
  // A reduction step costs a cycle per row and part of a panel's load.
  int64_t least = best.blocks * (most + 2);
  for (int64_t rows = most - 1; rows >= std::min<int64_t>(4, tiles); --rows) {
    const int64_t blocks = (tiles + rows - 1) / rows, cost = blocks * (rows + 2);
    if (cost < least) {
      least = cost;
      best.rows = rows;
      best.blocks = blocks;
    }
  }
  return best;
}

class WinogradRule {
 public:
  WinogradRule(const Computation& computation, const Roles& roles, const MachineModel& machine)
      : c_(computation),
        roles_(roles),
        tile_(machine.winograd_tile),
        tables_(winograd_tables(tile_)),
        lanes_(machine.vector_bytes / 4),
        blocks_(blocks_of(roles, tile_, machine)) {
    wide_ = kVectors * lanes_;
    panels_ = (roles.filters + wide_ - 1) / wide_;
    reach_ = tile_ + 2;
    weight_ = static_cast<int>(c_.buffers.size());
    data_ = weight_ + 1;
    products_ = data_ + 1;
  }

  Lowered run() {
    Kernel kernel;
    kernel.buffers = c_.buffers;
    const std::vector<Dim> form{number(reach_ * reach_), number(panels_), number(roles_.channels),
                                number(wide_)};
    kernel.buffers.push_back({"transformed", DType::float32(), form});
    kernel.buffers.push_back(scratch("data", {reach_ * reach_, blocks_.rows, roles_.channels}));
    kernel.buffers.push_back(scratch("products", {reach_ * reach_, blocks_.rows, panels_ * wide_}));
    kernel.locals = c_.locals;
    locals_ = &kernel.locals;
    kernel.traps = c_.traps;
    block_ = dim_var("block");
    Block body{transformed_data()};
    products(kernel, body);
    body.push_back(results());
    kernel.body = {make(For{.var = block_,
                            .extent = number(blocks_.blocks),
                            .execution = Serial{.before = number(0)},
                            .body = std::move(body)})};
    kernel.range = number(blocks_.blocks);
    // Transformations take about a third of the products' time.
    kernel.work = number(blocks_.tiles * reach_ * reach_ * roles_.channels * roles_.filters / 24);
    return {std::move(kernel), {{roles_.weight.buffer, weight_form(form)}}};
  }

 private:
  static Buffer scratch(const char* name, const std::vector<int64_t>& shape) {
    Buffer buffer{name, DType::float32(), {}};
    for (const int64_t extent : shape) buffer.shape.push_back(number(extent));
    buffer.is_scratch = true;
    return buffer;
  }

  Dim tile_number(Dim row) const { return dim_add(times(block_, blocks_.rows), row); }

  /// The position of element (a, b) of a tile's result.
  DimMap place(Dim row, int64_t a, int64_t b) const {
    const int64_t across = (roles_.width + tile_ - 1) / tile_, down = (roles_.height + tile_ - 1) / tile_;
    const Dim tile = tile_number(row), image = number(across * down);
    const Dim inside = roles_.images > 1 ? dim_floormod(tile, image) : tile;
    DimMap map{{roles_.y, plus(times(dim_floordiv(inside, number(across)), tile_), a)},
               {roles_.x, plus(times(dim_floormod(inside, number(across)), tile_), b)}};
    if (roles_.image) map.emplace(roles_.image, dim_floordiv(tile, image));
    return map;
  }

  /// The checks that the tile exists, and the element of the result or, `beyond` it, of the data.
  std::vector<BoundsCheck> checks_at(Dim row, const DimMap& map, int64_t beyond) const {
    std::vector<BoundsCheck> checks;
    if (blocks_.tiles % blocks_.rows != 0)
      checks.push_back({tile_number(row), nullptr, number(blocks_.tiles)});
    if (roles_.height % tile_ != 0)
      checks.push_back({map.at(roles_.y), nullptr, number(roles_.height + beyond)});
    if (roles_.width % tile_ != 0)
      checks.push_back({map.at(roles_.x), nullptr, number(roles_.width + beyond)});
    return checks;
  }

  /// data[point, row, channel] = (B^T d B)[point]
  StmtPtr transformed_data() {
    const Dim row = dim_var("row"), channel = dim_var("channel");
    Block body;
    Combiner combiner(body, *locals_);
    Values tile;
    for (int64_t a = 0; a < reach_; ++a)
      for (int64_t b = 0; b < reach_; ++b) {
        DimMap map = place(row, a, b);
        map.insert({{roles_.r, number(0)}, {roles_.s, number(0)}, {roles_.channel, channel}});
        LoadValue v = *as_shared<LoadValue>(substitute(make(roles_.data), map));
        const std::vector<BoundsCheck> inside = checks_at(row, map, 2);
        v.checks.insert(v.checks.end(), inside.begin(), inside.end());
        if (!v.checks.empty()) v.otherwise = constant(Scalar::from_double(DType::float32(), 0));
        tile.push_back(combiner.local(make(std::move(v))));
      }
    const Values points = combiner.both_sides(tables_.data, tile);
    for (size_t k = 0; k < points.size(); ++k) {
      const Dim matrix = number(static_cast<int64_t>(k) * blocks_.rows * roles_.channels);
      body.push_back(store(data_, dim_add(dim_add(matrix, times(row, roles_.channels)), channel), points[k]));
    }
    return serial_loop(row, number(blocks_.rows),
                       {vector_loop(channel, number(roles_.channels), lanes_, std::move(body))});
  }

  /// products[point, row, filter] = sum over channels of data[point, row, channel] * weight[point, channel,
  /// filter]
  void products(Kernel& kernel, Block& body) {
    Computation c;
    c.buffers = kernel.buffers;
    for (Buffer& buffer : c.buffers) buffer.is_output = false;
    c.buffers.back().is_output = true;
    const Dim point = dim_var("p"), panel = dim_var("q"), row = dim_var("i"), filter = dim_var("j"),
              channel = dim_var("k");
    c.vars = {point, panel, row, filter};
    c.extents = {number(reach_ * reach_), number(panels_), number(blocks_.rows), number(wide_)};
    const Dim left = dim_add(times(dim_add(times(point, blocks_.rows), row), roles_.channels), channel);
    const Dim right =
        dim_add(times(dim_add(times(dim_add(times(point, panels_), panel), roles_.channels), channel), wide_),
                filter);
    Reduction sum{ReduceKind::Sum, {channel}, {number(roles_.channels)}};
    sum.value = apply(ScalarOp::Mul, {load(data_, left), load(weight_, right)});
    sum.accumulator = DType::float32();
    sum.local = kernel.locals++;
    c.value = value_of(sum.local, DType::float32());
    c.reductions.push_back(std::move(sum));
    c.store_offset = dim_add(
        dim_add(times(dim_add(times(point, blocks_.rows), row), panels_ * wide_), times(panel, wide_)),
        filter);
    c.locals = kernel.locals;
    Nest nest(std::move(c));
    const auto step = [&](Primitive primitive, const std::vector<Dim>& roots,
                          std::vector<ScheduleNumber> numbers) {
      QUERN_CHECK(nest.apply({primitive, {nest.loops_of(roots)}, std::move(numbers)}));
    };
    step(Primitive::Reorder, {point, panel, channel, row, filter}, {});
    step(Primitive::Unroll, {row}, {});
    step(Primitive::Vectorize, {filter}, {lanes_});
    step(Primitive::Unroll, {channel}, {4});
    QUERN_CHECK(nest.is_complete());
    const Kernel part = nest.kernel();
    body.insert(body.end(), part.body.begin(), part.body.end());
    kernel.locals = part.locals;
  }

  /// The computation's epilogue of A^T m A, for each tile.
  StmtPtr results() {
    const Dim row = dim_var("row"), filter = dim_var("filter");
    Block body;
    Combiner combiner(body, *locals_);
    Values tile;
    for (int64_t k = 0; k < reach_ * reach_; ++k) {
      const Dim at = times(plus(row, k * blocks_.rows), panels_ * wide_);
      tile.push_back(combiner.local(load(products_, dim_add(at, filter))));
    }
    const Values sums = combiner.both_sides(tables_.result, tile);
    for (int64_t a = 0; a < tile_; ++a)
      for (int64_t b = 0; b < tile_; ++b) {
        DimMap map = place(row, a, b);
        map.emplace(roles_.filter, filter);
        const ValuePtr& sum = sums[static_cast<size_t>(a * tile_ + b)];
        const ValuePtr value = replace<LocalValue>(substitute(c_.value, map), [&](const LocalValue& v) {
          return v.local == c_.reductions[0].local ? sum : nullptr;
        });
        StmtPtr stored = store(weight_ - 1, quern::substitute(c_.store_offset, map), value);
        if (auto checks = checks_at(row, map, 0); !checks.empty())
          stored = only_if(std::move(checks), {std::move(stored)});
        body.push_back(std::move(stored));
      }
    return serial_loop(row, number(blocks_.rows),
                       {vector_loop(filter, number(roles_.filters), lanes_, std::move(body))});
  }

  /// (G g G^T)[point] for each panel, channel and filter of the panel.
  Kernel weight_form(const std::vector<Dim>& shape) const {
    Kernel form;
    Buffer weight = c_.buffers[static_cast<size_t>(roles_.weight.buffer)],
           out{"out", DType::float32(), shape, true};
    form.buffers = {std::move(weight), std::move(out)};
    const Dim panel = dim_var("panel"), channel = dim_var("channel"), filter = dim_var("filter");
    Block body;
    Combiner combiner(body, form.locals);
    Values window;
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t s = 0; s < 3; ++s) {
        const Dim at = dim_add(times(panel, wide_), filter);
        const DimMap map{
            {roles_.r, number(r)}, {roles_.s, number(s)}, {roles_.channel, channel}, {roles_.filter, at}};
        LoadValue v = *as_shared<LoadValue>(substitute(make(roles_.weight), map));
        v.buffer = 0;
        if (roles_.filters % wide_ != 0) {
          v.checks = {{at, nullptr, number(roles_.filters)}};
          v.otherwise = constant(Scalar::from_double(DType::float32(), 0));
        }
        window.push_back(combiner.local(make(std::move(v))));
      }
    const Values points = combiner.both_sides(tables_.weight, window);
    for (size_t k = 0; k < points.size(); ++k) {
      const Dim matrix = plus(panel, static_cast<int64_t>(k) * panels_);
      const Dim at = dim_add(times(dim_add(times(matrix, roles_.channels), channel), wide_), filter);
      body.push_back(store(1, at, points[k]));
    }
    const StmtPtr filters = vector_loop(filter, number(wide_), lanes_, std::move(body));
    form.body = {
        serial_loop(panel, number(panels_), {serial_loop(channel, number(roles_.channels), {filters})})};
    return form;
  }

  const Computation& c_;
  const Roles& roles_;
  int tile_;
  const WinogradTables& tables_;
  int64_t lanes_;
  Blocks blocks_;
  int64_t wide_ = 0, panels_ = 0, reach_ = 0;  ///< filters per panel, number of panels, extent of a data tile
  int weight_ = 0, data_ = 0, products_ = 0;   ///< the form of the weights, and the scratch buffers
  int* locals_ = nullptr;
  Dim block_ = nullptr;
};

}  // namespace

std::optional<Lowered> scheduled_winograd(const Computation& computation, const MachineModel& machine) {
  if (machine.winograd_tile == 0 || machine.vector_bytes < 32) return std::nullopt;
  const auto roles = RoleFinder(computation).run();
  // With fewer, transforms cost more than products save.
  constexpr int64_t kFewChannels = 16;
  if (!roles || roles->channels < kFewChannels || roles->filters < kFewChannels) return std::nullopt;
  return WinogradRule(computation, *roles, machine).run();
}

}  // namespace quern::loops
