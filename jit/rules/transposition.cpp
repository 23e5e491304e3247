#include "jit/rules/transposition.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <unordered_map>

#include "ir/base/result.h"

namespace quern::loops {

namespace {

bool runs_along(Dim offset, Dim var) {
  const auto linear = linear_in(offset, var);
  return linear && is_const(linear->coefficient, 1);
}

bool is_checked(const LoadValue& load, Dim var) {
  return std::ranges::any_of(load.checks, [&](const BoundsCheck& check) {
    return check.computed || !load.otherwise || contains_var(check.index, var);
  });
}

/// A read that is strided along the result's last index and contiguous along another one, on which no padding
/// depends.
struct TurnedRead {
  int buffer;
  Dim along;
};

std::optional<TurnedRead> turned_read(const Computation& c) {
  const Dim last = c.vars.back();
  std::unordered_map<int, int> reads;
  std::optional<TurnedRead> found;
  for_each<LoadValue>(c.value, [&](const LoadValue& load) {
    ++reads[load.buffer];
    if (found || !load.computed.empty() || !contains_var(load.offset, last) || runs_along(load.offset, last))
      return;
    const auto along = std::ranges::find_if(
        c.vars, [&](Dim var) { return runs_along(load.offset, var) && !is_checked(load, var); });
    if (along != c.vars.end()) found = {load.buffer, *along};
  });
  return found && reads[found->buffer] == 1 ? found : std::nullopt;
}

/// The loop that continues the read where `along`, of `extent` elements, ends; null if there is none.
Dim continued_by(const Computation& c, const LoadValue& load, int64_t extent) {
  const auto next = std::ranges::find_if(c.vars, [&](Dim var) {
    const auto linear = linear_in(load.offset, var);
    return var != c.vars.back() && linear && is_const(linear->coefficient, extent) && !is_checked(load, var);
  });
  return next == c.vars.end() ? nullptr : *next;
}

int64_t known_extent(const Computation& c, Dim var) {
  const auto k = static_cast<size_t>(std::ranges::find(c.vars, var) - c.vars.begin());
  return as_const(c.extents[k]).value_or(0);
}

/// The distance between what neighbouring steps of the loop read, or write if that is less: the innermost loops are those
/// whose steps stay in a cache line.
int64_t least_stride(const Computation& c, int buffer, Dim var) {
  constexpr int64_t kFar = int64_t{1} << 32;
  const auto stride = [&](Dim offset) {
    const int64_t apart = known_stride(offset, var).value_or(kFar);
    return apart == 0 ? kFar : apart;
  };
  int64_t least = stride(c.store_offset);
  for_each<LoadValue>(c.value, [&](const LoadValue& load) {
    if (load.buffer == buffer) least = std::min(least, stride(load.offset));
  });
  return least;
}

/// The computation with one loop, of at least `wanted` elements, in the place of those along which the read is contiguous:
/// the rows and columns of a window, whose order in the result may differ.
Computation with_longer_run(const Computation& c, const TurnedRead& read, int64_t wanted) {
  std::optional<LoadValue> load;
  for_each<LoadValue>(c.value, [&](const LoadValue& each) {
    if (each.buffer == read.buffer) load.emplace(each);
  });
  const int64_t extent = known_extent(c, read.along);
  const Dim next = extent > 1 && extent < wanted ? continued_by(c, *load, extent) : nullptr;
  const int64_t count = next ? known_extent(c, next) : 0;
  if (count < 2) return c;
  Computation longer = c;
  const Dim run = dim_var(read.along->name);
  longer.vars.clear();
  longer.extents.clear();
  for (size_t k = 0; k < c.vars.size(); ++k) {
    if (c.vars[k] == next) continue;
    longer.vars.push_back(c.vars[k] == read.along ? run : c.vars[k]);
    longer.extents.push_back(c.vars[k] == read.along ? dim_const(extent * count) : c.extents[k]);
  }
  Facts facts;
  facts.add_index(run, dim_const(extent * count));
  const Dim size = dim_const(extent);
  const DimMap parts{{read.along, dim_floormod(run, size)}, {next, dim_floordiv(run, size)}};
  map_dims(longer, [&](Dim d) { return simplify(quern::substitute(d, parts), facts); });
  const auto found = turned_read(longer);
  return found && found->along == run ? with_longer_run(longer, *found, wanted) : c;
}

LoopIds take_step(Nest& nest, const LoopStep& given) {
  auto made = nest.apply(given);
  QUERN_CHECK(made);
  return *made;
}

}  // namespace

std::optional<Nest> scheduled_blocks(const Computation& c) {
  constexpr int64_t kFewest = 4, kMost = 64, kLine = 64, kBlock = 16 << 10;
  if (c.running || c.scatter || !c.reductions.empty() || c.vars.size() < 2) return std::nullopt;
  const Dim last = c.vars.back();
  std::vector<LoadValue> loads;
  for_each<LoadValue>(c.value, [&](const LoadValue& load) { loads.push_back(load); });
  if (!runs_along(c.store_offset, last) || loads.size() != 1 || !loads[0].computed.empty())
    return std::nullopt;
  const LoadValue& load = loads[0];
  const auto bytes = static_cast<int64_t>(load.dtype.bytes());
  const auto apart = known_stride(load.offset, last);
  if (!apart || *apart * bytes < kLine) return std::nullopt;

  std::vector<std::pair<int64_t, Dim>> outside, inside;
  int64_t block = 1;
  for (const Dim var : c.vars) {
    const auto stride = known_stride(load.offset, var);
    const bool is_inside =
        var != last && stride && *stride > 0 && *stride < *apart && known_extent(c, var) > 0;
    if (is_inside) block *= std::min(known_extent(c, var), kMost + 1);
    if (var != last)
      (is_inside ? inside : outside)
          .emplace_back(is_inside ? *stride : least_stride(c, load.buffer, var), var);
  }
  const int64_t lanes = known_extent(c, last);
  if (block < kFewest || block > kMost || lanes == 0 || lanes * block * bytes > kBlock) return std::nullopt;

  Nest nest(c);
  LoopIds order;
  for (auto* loops : {&outside, &inside}) {
    std::ranges::stable_sort(*loops, std::greater<>(), &std::pair<int64_t, Dim>::first);
    for (const auto& [stride, var] : *loops) order.push_back(nest.loop_of(var));
    if (loops == &outside) order.push_back(nest.loop_of(last));
  }
  take_step(nest, {Primitive::Reorder, {order}});
  for (const auto& [stride, var] : inside) take_step(nest, {Primitive::Unroll, {{nest.loop_of(var)}}});
  if (const auto shared = nest.shared_loop()) take_step(nest, {Primitive::Parallel, {{*shared}}});
  QUERN_CHECK(nest.is_complete());
  return nest;
}

std::optional<Nest> scheduled_transposition(const Computation& computation, const MachineModel& machine) {
  Computation c = computation;
  if (c.running || c.scatter || !c.reductions.empty() || c.vars.size() < 2) return std::nullopt;
  if (!runs_along(c.store_offset, c.vars.back())) return std::nullopt;
  auto read = turned_read(c);
  if (!read) return std::nullopt;
  const int64_t bytes = static_cast<int64_t>(c.buffers[static_cast<size_t>(read->buffer)].dtype.bytes());
  const int64_t width = machine.vector_bytes / bytes;
  c = with_longer_run(c, *read, width / 2);
  read = turned_read(c);
  const auto is_short = [&](Dim var) {
    const size_t k = static_cast<size_t>(std::find(c.vars.begin(), c.vars.end(), var) - c.vars.begin());
    return as_const(c.extents[k]).value_or(width) < std::max<int64_t>(2, width / 4);
  };
  if (bytes < 4 || width < 2 || is_short(read->along) || is_short(c.vars.back())) return std::nullopt;

  Nest nest(c);
  const auto step = [&](const LoopStep& given) { return take_step(nest, given); };
  std::vector<std::pair<int64_t, LoopId>> outer;
  LoopId rows = kNoLoop, lanes = kNoLoop;
  for (const Dim var : c.vars) {
    const LoopId loop = nest.loop_of(var);
    const int64_t apart = least_stride(c, read->buffer, var);
    if (var != read->along && var != c.vars.back()) {
      outer.emplace_back(apart, loop);
      continue;
    }
    const LoopIds parts = step({Primitive::Split, {{loop}}, {width}});
    outer.emplace_back(apart * width, parts[0]);
    (var == read->along ? rows : lanes) = parts[1];
  }
  std::ranges::stable_sort(outer, std::greater<>(), &std::pair<int64_t, LoopId>::first);
  LoopIds order;
  for (const auto& [apart, loop] : outer) order.push_back(loop);
  order.push_back(rows);
  order.push_back(lanes);
  step({Primitive::Reorder, {order}});
  step({Primitive::Turn, {{}, {rows, lanes}}, {}, {c.buffers[static_cast<size_t>(read->buffer)].name}});
  if (const auto shared = nest.shared_loop()) step({Primitive::Parallel, {{*shared}}});
  QUERN_CHECK(nest.is_complete());
  return nest;
}

}  // namespace quern::loops
