#include "frontend/syntax/slice_range.h"

#include "ir/dim/prover.h"

namespace quern {

namespace {

/// Whether a is at most b for every value of their variables: declared dims are not negative. That of a number known at run time
/// alone may be.
bool is_at_most(Dim a, Dim b) {
  const auto is_open = [](Dim dim) { return dim->has_any || dim->has_infer || contains_opened(dim); };
  return !is_open(a) && !is_open(b) && prove_nonnegative(dim_sub(b, a), Facts());
}

}  // namespace

SliceRange slice_range(std::optional<Dim> first, std::optional<Dim> last, int64_t step, Dim extent) {
  const bool down = step < 0;
  const Dim one = dim_const(1), before = dim_const(down ? -1 : 0),
            last_begin = down ? dim_sub(extent, one) : extent;
  auto clamp = [&](Dim at) {
    if (auto c = as_const(at); c && *c < 0) at = dim_add(at, extent);
    if (!is_at_most(before, at)) at = dim_max(at, before);
    return is_at_most(at, last_begin) ? at : dim_min(at, last_begin);
  };
  Dim begin = first ? clamp(*first) : down ? last_begin : dim_const(0);
  Dim end = last ? clamp(*last) : down ? before : extent;
  Dim size = dim_const(down ? -step : step);
  Dim span = down ? dim_sub(begin, end) : dim_sub(end, begin);
  Dim count = dim_floordiv(dim_add(span, dim_sub(size, one)), size);
  if (!prove_nonnegative(count, Facts())) count = dim_max(count, dim_const(0));
  return {begin, count, step};
}

}  // namespace quern
