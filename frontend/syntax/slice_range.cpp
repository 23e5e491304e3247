#include "frontend/syntax/slice_range.h"

#include "ir/dim/prover.h"

namespace quern {

SliceRange slice_range(std::optional<Dim> first, std::optional<Dim> last, int64_t step, Dim extent) {
  const bool down = step < 0;
  const Dim one = dim_const(1), before = dim_const(down ? -1 : 0),
            last_begin = down ? dim_sub(extent, one) : extent;
  auto clamp = [&](Dim at) {
    if (auto c = as_const(at); c && *c < 0) at = dim_add(at, extent);
    return dim_min(dim_max(at, before), last_begin);
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
