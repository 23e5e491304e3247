#include "jit/rules/transposition.h"

#include <algorithm>
#include <unordered_map>

#include "ir/base/result.h"

namespace quern::loops {

namespace {

bool runs_along(Dim offset, Dim var) {
  const auto linear = linear_in(offset, var);
  return linear && is_const(linear->coefficient, 1);
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
    const auto along = std::find_if(c.vars.begin(), c.vars.end(), [&](Dim var) {
      return runs_along(load.offset, var) && std::ranges::none_of(load.checks, [&](const BoundsCheck& check) {
               return check.computed || !load.otherwise || contains_var(check.index, var);
             });
    });
    if (along != c.vars.end()) found = {load.buffer, *along};
  });
  return found && reads[found->buffer] == 1 ? found : std::nullopt;
}

}  // namespace

std::optional<Nest> scheduled_transposition(const Computation& c, const MachineModel& machine) {
  if (c.running || c.scatter || !c.reductions.empty() || c.vars.size() < 2) return std::nullopt;
  if (!runs_along(c.store_offset, c.vars.back())) return std::nullopt;
  const auto read = turned_read(c);
  if (!read) return std::nullopt;
  const int64_t bytes = static_cast<int64_t>(c.buffers[static_cast<size_t>(read->buffer)].dtype.bytes());
  const int64_t width = machine.vector_bytes / bytes;
  const auto is_short = [&](Dim var) {
    const size_t k = static_cast<size_t>(std::find(c.vars.begin(), c.vars.end(), var) - c.vars.begin());
    return as_const(c.extents[k]).value_or(width) < std::max<int64_t>(2, width / 4);
  };
  if (bytes < 4 || width < 2 || is_short(read->along) || is_short(c.vars.back())) return std::nullopt;

  Nest nest(c);
  const auto step = [&](const LoopStep& given) {
    auto made = nest.apply(given);
    QUERN_CHECK(made);
    return *made;
  };
  LoopIds order;
  LoopId rows = kNoLoop, lanes = kNoLoop;
  for (const Dim var : c.vars) {
    const LoopId loop = nest.loop_of(var);
    const bool is_split = var == read->along || var == c.vars.back();
    if (!is_split) {
      order.push_back(loop);
      continue;
    }
    const LoopIds parts = step({Primitive::Split, {{loop}}, {width}});
    order.push_back(parts[0]);
    (var == read->along ? rows : lanes) = parts[1];
  }
  order.push_back(rows);
  order.push_back(lanes);
  step({Primitive::Reorder, {order}});
  step({Primitive::Turn, {{}, {rows, lanes}}, {}, {c.buffers[static_cast<size_t>(read->buffer)].name}});
  if (const auto shared = nest.shared_loop()) step({Primitive::Parallel, {{*shared}}});
  QUERN_CHECK(nest.is_complete());
  return nest;
}

}  // namespace quern::loops
