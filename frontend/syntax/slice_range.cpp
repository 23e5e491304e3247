#include "frontend/syntax/slice_range.h"

#include <limits>

#include "ir/dim/prover.h"

namespace quern {

namespace {

/// Whether a dim is not negative for any value of its variables: declared dims and those of the axis are not. That of a
/// number known at run time alone may be.
bool is_nonnegative(Dim dim, Dim extent) {
  if (dim->has_any || dim->has_infer) return false;
  Facts facts;
  for_each_var(dim, [&](Dim var) {
    if (var->opened && !contains_var(extent, var)) facts.add_lower(var, std::numeric_limits<int64_t>::min());
  });
  return prove_nonnegative(dim, facts);
}

}  // namespace

SliceRange slice_range(std::optional<Dim> first, std::optional<Dim> last, int64_t step, Dim extent) {
  const bool down = step < 0;
  const Dim one = dim_const(1), before = dim_const(down ? -1 : 0),
            last_begin = down ? dim_sub(extent, one) : extent;
  const auto from_start = [&](Dim at) {
    const auto c = as_const(at);
    return c && *c < 0 ? dim_add(at, extent) : at;
  };
  const auto at_least = [&](Dim at) {
    return is_nonnegative(dim_sub(at, before), extent) ? at : dim_max(at, before);
  };
  const auto at_most = [&](Dim at) {
    return is_nonnegative(dim_sub(last_begin, at), extent) ? at : dim_min(at, last_begin);
  };
  const Dim from = first ? from_start(*first) : down ? last_begin : dim_const(0);
  const Dim to = last ? from_start(*last) : down ? before : extent;
  const Dim begin = first ? at_most(at_least(from)) : from, size = dim_const(down ? -step : step);
  const auto count_between = [&](Dim begin, Dim end) {
    const Dim span = down ? dim_sub(begin, end) : dim_sub(end, begin);
    const Dim count = dim_floordiv(dim_add(span, dim_sub(size, one)), size);
    return is_nonnegative(count, extent) ? count : dim_max(count, dim_const(0));
  };
  const Dim clamped = count_between(begin, at_most(at_least(to)));
  if (as_const(clamped)) return {begin, clamped, step};
  // A bound beyond the axis on the side where nothing is selected needs no clamping: the difference is not positive either
  // way. So `%x[1:-1]` of n elements has max(n - 2, 0).
  const Dim count =
      down ? count_between(at_most(from), at_least(to)) : count_between(at_least(from), at_most(to));
  return {begin, count, step};
}

}  // namespace quern
