// The `tensorize` of a nest.

#include <fmt/format.h>

#include <algorithm>

#include "jit/nest/dot.h"
#include "jit/nest/writer.h"

namespace quern::loops {

template <>
Result<Done> Nest::change<Primitive::Tensorize>(const LoopStep& step) {
  const LoopIds& loops = step.loops[0];
  const std::string& intrinsic = step.words[0];
  const auto dot = std::ranges::find(dots_, intrinsic, [](const DotIntrinsicPtr& d) { return d->name; });
  if (dot == dots_.end()) return Failure{fmt::format("this machine has no intrinsic `{}`", intrinsic)};
  const bool of_matrices = (*dot)->is_of_matrices();
  if (loops.size() != (of_matrices ? 3U : 2U))
    return Failure{fmt::format("`{}` does the steps of {} loops: `tensorize({}l, m; {})`", intrinsic,
                               of_matrices ? 3 : 2, of_matrices ? "v, " : "", intrinsic)};
  const Loop& l = at(loops[loops.size() - 2]);
  Loop& m = at(loops.back());
  if (l.kind != LoopKind::Vectorize || l.width != (*dot)->lanes)
    return Failure{fmt::format("`{}` runs in lanes of `{}`: `vectorize({}, {})`", intrinsic, name(l), name(l),
                               (*dot)->lanes)};
  const bool inner = outer_of(loops.back()) != kNoLoop && m.owner != kResult;
  const int64_t most = int64_t{(*dot)->group} * (*dot)->steps;
  const int64_t steps = inner ? split_of(loops.back()).factor : 0;
  if (steps < (*dot)->group || steps > most || steps % (*dot)->group != 0)
    return Failure{fmt::format(
        "`{}` is not the inner part of a split of a reduction's loop into steps of {}{}", name(m),
        (*dot)->group, of_matrices ? fmt::format(", or of a multiple of it up to {}", most) : "")};
  m.dot = *dot;
  if (of_matrices) matrix_rows_ = loops[0];
  return Done{};
}

/// Whether groups of both factors are contiguous in memory depends on packing.
Result<Done> Nest::dot_is_complete(LoopId loop, const Parts& parts) const {
  const LoopIds& tile = parts.tile;
  const Loop& m = at(loop);
  const std::string& intrinsic = m.dot->name;
  const auto is_reduced = [&](LoopId other) { return at(other).owner != kResult; };
  const auto innermost = std::find_if(order_.rbegin(), order_.rend(), is_reduced);
  if (tile.empty() || *innermost != loop)
    return Failure{fmt::format("`{}` is not the innermost loop around a tile", name(m))};
  const Loop& lanes = at(tile.back());
  if (lanes.kind != LoopKind::Vectorize || lanes.width != m.dot->lanes || m.kind != LoopKind::Serial)
    return Failure{fmt::format("`{}` takes {} lanes of a tile, and the steps of `{}`, at once", intrinsic,
                               m.dot->lanes, name(m))};
  if (m.dot->is_of_matrices()) return matrices_are_complete(loop, parts);
  const Reduction& r = c_.reductions[0];
  const auto factors = r.kind == ReduceKind::Sum && r.accumulator == m.dot->accumulator
                           ? dot_factors(r.value, *m.dot)
                           : std::nullopt;
  if (!factors)
    return Failure{fmt::format("`{}` adds up products of {} and {} in {}", intrinsic, to_string(m.dot->a),
                               to_string(m.dot->b), to_string(m.dot->accumulator))};
  const Split& split = split_of(loop);
  const Loop& whole = at(split.loop);
  const Dim symbol = dim_add(dim_mul(at(split.outer).symbol, dim_const(split.factor)), m.symbol);
  Facts facts;
  facts.add_index(m.symbol, dim_const(split.factor));
  for (const LoadPtr& load : {factors->a, factors->b}) {
    const auto along =
        linear_in(simplify(quern::substitute(load->offset, {{whole.symbol, symbol}}), facts), m.symbol);
    const bool tested = std::ranges::any_of(load->checks, [&](const BoundsCheck& c) {
      return c.computed || contains_var(c.index, whole.symbol);
    });
    const std::string& buffer = c_.buffers[static_cast<size_t>(load->buffer)].name;
    if (!std::ranges::all_of(load->checks, [&](const BoundsCheck& c) { return contains(r.checks, c); }))
      return Failure{fmt::format("what `{}` has outside of its bounds counts", buffer)};
    if (!load->computed.empty() || !along || !is_const(along->coefficient, 1) || tested)
      return Failure{fmt::format("elements of `{}` do not lie side by side along `{}`", buffer, name(m))};
  }
  return Done{};
}

/// Contiguity is checked when code is written.
Result<Done> Nest::matrices_are_complete(LoopId loop, const Parts& parts) const {
  const Loop& m = at(loop);
  const DotIntrinsic& dot = *m.dot;
  const Split& split = split_of(loop);
  const LoopIds& tile = parts.tile;
  if (tile.size() != 2 || tile[0] != matrix_rows_ || !parts.memory.empty())
    return Failure{fmt::format("`{}` takes a tile of `{}` and `{}`, whose sums are in registers", dot.name,
                               name(matrix_rows_), name(tile.back()))};
  if (!even_count(split))
    return Failure{
        fmt::format("`{}` takes {} steps of `{}` at once, and {}", dot.name, split.factor, name(split.loop),
                    known_extent(split.loop) ? "some are left" : "how many there are is not known")};
  const Loop& columns = at(tile[1]);
  if (!known_extent(columns.made_by < 0 ? tile[1] : split_of(tile[1]).loop))
    return Failure{fmt::format("how far `{}` runs is not known, and `{}` takes so many columns",
                               name(columns), dot.name)};
  const auto above = (most_steps(tile[0]).value_or(1) + dot.rows - 1) / dot.rows;
  const auto beside = (most_steps(tile[1]).value_or(1) + dot.lanes - 1) / dot.lanes;
  if (!DotIntrinsic::has_registers(above, beside))
    return Failure{fmt::format("a tile of {} by {} matrices and their factors take more than {} registers",
                               above, beside, DotIntrinsic::kRegisters)};
  const Reduction& r = c_.reductions[0];
  const auto factors = r.kind == ReduceKind::Sum && r.accumulator == dot.accumulator
                           ? matrix_factors(r.value, dot, root_symbols(tile[0]), root_symbols(tile[1]))
                           : std::nullopt;
  if (!factors)
    return Failure{fmt::format("`{}` adds up products of {}, in rows, and {}, in columns, in {}", dot.name,
                               to_string(dot.a), to_string(dot.b), to_string(dot.accumulator))};
  if (auto done = zeros_are_absent(*factors, tile[0], loop); !done) return done;
  NestWriter writer(*this);
  writer.write();
  if (!writer.failure().empty()) return Failure{writer.failure()};
  return Done{};
}

/// Whole rows of the left factor count or none do; skipped rows are 0 in a matrix, which is wrong if the
/// right factor has an infinity.
Result<Done> Nest::zeros_are_absent(const DotFactors& factors, LoopId rows, LoopId terms) const {
  const Reduction& r = c_.reductions[0];
  const auto are_in = [](const std::vector<BoundsCheck>& others) {
    return [&](const BoundsCheck& c) { return contains(others, c); };
  };
  const auto differ_along = [&](LoopId loop) {
    return [symbols = root_symbols(loop)](const BoundsCheck& c) {
      return c.computed || std::ranges::any_of(symbols, [&](Dim var) { return contains_var(c.index, var); });
    };
  };
  const bool are_same = std::ranges::all_of(factors.a->checks, are_in(r.checks)) &&
                        std::ranges::all_of(r.checks, are_in(factors.a->checks));
  const bool is_exact = !r.accumulator.is_float() || std::ranges::none_of(r.checks, differ_along(rows));
  const bool are_rows = std::ranges::none_of(r.checks, differ_along(terms));
  if (are_same && is_exact && are_rows && factors.b->checks.empty()) return Done{};
  return Failure{fmt::format("what `{}` has outside of its bounds counts",
                             c_.buffers[static_cast<size_t>(factors.a->buffer)].name)};
}

}  // namespace quern::loops
