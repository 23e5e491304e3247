// The `tensorize` of a nest.

#include <fmt/format.h>

#include <algorithm>

#include "jit/schedule/dot.h"

namespace quern::loops {

Result<Done> Nest::tensorize(const ScheduleStep& step) {
  if (step.loops.size() != 2 || step.loops[0].size() != 2 || step.loops[1].size() != 1 ||
      !step.numbers.empty())
    return Failure{"takes two loops and an intrinsic: `tensorize(l, m; x86.dot4_512)`"};
  const std::string& name = step.loops[1][0];
  const auto dot = std::ranges::find(dots_, name, [](const DotIntrinsicPtr& d) { return d->name; });
  if (dot == dots_.end()) return Failure{fmt::format("this machine has no intrinsic `{}`", name)};
  auto lanes = find_in_order(step.loops[0][0]);
  if (!lanes) return lanes.error();
  auto steps = find_in_order(step.loops[0][1]);
  if (!steps) return steps.error();
  const Loop& l = table_[static_cast<size_t>(order_[*lanes])];
  Loop& m = table_[static_cast<size_t>(order_[*steps])];
  if (l.kind != LoopKind::Vectorize || l.width != (*dot)->lanes)
    return Failure{
        fmt::format("`{}` runs in lanes of `{}`: `vectorize({}, {})`", name, l.name, l.name, (*dot)->lanes)};
  const bool inner = outer_of(order_[*steps]) >= 0 && m.owner != kResult;
  if (!inner || splits_[static_cast<size_t>(m.made_by)].factor != (*dot)->group)
    return Failure{fmt::format("`{}` is not the inner part of a split of a reduction's loop into steps of {}",
                               m.name, (*dot)->group)};
  m.dot = *dot;
  return Done{};
}

/// That groups of both factors lie side by side in memory depends on what was packed.
Result<Done> Nest::dot_is_complete(int loop, const std::vector<int>& tile) const {
  const Loop& m = table_[static_cast<size_t>(loop)];
  const std::string& name = m.dot->name;
  const auto is_reduced = [&](int other) { return table_[static_cast<size_t>(other)].owner != kResult; };
  const auto innermost = std::find_if(order_.rbegin(), order_.rend(), is_reduced);
  if (tile.empty() || *innermost != loop)
    return Failure{fmt::format("`{}` is not the innermost loop around a tile", m.name)};
  const Loop& lanes = table_[static_cast<size_t>(tile.back())];
  if (lanes.kind != LoopKind::Vectorize || lanes.width != m.dot->lanes || m.kind != LoopKind::Serial)
    return Failure{fmt::format("`{}` takes {} lanes of a tile, and the steps of `{}`, at once", name,
                               m.dot->lanes, m.name)};
  const Reduction& r = c_.reductions[0];
  const auto factors = r.kind == ReduceKind::Sum && r.accumulator == m.dot->accumulator
                           ? dot_factors(r.value, *m.dot)
                           : std::nullopt;
  if (!factors)
    return Failure{fmt::format("`{}` adds up products of {} and {} in {}", name, to_string(m.dot->a),
                               to_string(m.dot->b), to_string(m.dot->accumulator))};
  const Split& split = splits_[static_cast<size_t>(m.made_by)];
  const Loop& whole = table_[static_cast<size_t>(split.loop)];
  const Dim symbol =
      dim_add(dim_mul(table_[static_cast<size_t>(split.outer)].symbol, dim_const(split.factor)), m.symbol);
  Facts facts;
  facts.add_index(m.symbol, dim_const(split.factor));
  for (const ValuePtr& load : {factors->a, factors->b}) {
    const auto along =
        linear_in(simplify(quern::substitute(load->dim, {{whole.symbol, symbol}}), facts), m.symbol);
    const bool tested = std::ranges::any_of(load->checks, [&](const BoundsCheck& c) {
      return c.computed || contains_var(c.index, whole.symbol);
    });
    const std::string& buffer = c_.buffers[static_cast<size_t>(load->buffer)].name;
    if (!std::ranges::all_of(load->checks, [&](const BoundsCheck& c) { return contains(r.checks, c); }))
      return Failure{fmt::format("what `{}` has outside of its bounds counts", buffer)};
    if (!load->computed.empty() || !along || !is_const(along->coefficient, 1) || tested)
      return Failure{fmt::format("elements of `{}` do not lie side by side along `{}`", buffer, m.name)};
  }
  return Done{};
}

}  // namespace quern::loops
