// Matrix products by intrinsics.

#include <fmt/format.h>

#include "ir/base/result.h"
#include "jit/nest/dot.h"
#include "jit/nest/writer.h"

namespace quern::loops {

/// The loop whose steps a matrix intrinsic performs, or null.
const Nest::Loop* NestWriter::loop_of_matrices() const {
  for (const LoopId loop : parts_.reduced)
    if (loop_at(loop).dot && loop_at(loop).dot->is_of_matrices()) return &loop_at(loop);
  return nullptr;
}

/// The number of reduction steps that a loop's intrinsic performs.
int64_t NestWriter::terms_at_once(LoopId loop) const { return nest_.split_of(loop).factor; }

/// The distance of the load's groups along the steps of an intrinsic, if each is contiguous and they are
/// evenly spaced; or null.
Dim NestWriter::apart_along_groups(const LoadValue& load, const Place& place) const {
  const int64_t size = loop_at(place.dot).dot->group, groups = terms_at_once(place.dot) / size;
  const Dim group = dim_var("group"), step = dim_var("step");
  Place each = place;
  each.index[place.dot] = dim_add(dim_mul(group, dim_const(size)), step);
  each.facts.add_index(group, dim_const(groups));
  each.facts.add_index(step, dim_const(size));
  const Dim at = here(load.offset, indices(each), each.facts);
  const auto inside = linear_in(at, step), between = linear_in(at, group);
  if (!inside || !is_const(inside->coefficient, 1) || !between) return nullptr;
  return groups > 1 ? between->coefficient : dim_const(size);
}

ValuePtr NestWriter::product_of_matrices(const Reduction& r, const Place& place) {
  const Nest::Loop& loop = loop_at(place.dot);
  const auto factors = matrix_factors(r.value, *loop.dot, nest_.root_symbols(parts_.tile[0]),
                                      nest_.root_symbols(parts_.tile[1]));
  QUERN_CHECK(factors);
  const DimMap map = indices(place);
  DotValue v{r.accumulator, loop.dot, factor(factors->a, map, place, r), factor(factors->b, map, place, r)};
  const Dim group = dim_const(loop.dot->group);
  const Dim in_rows = apart_along_groups(*factors->a, place), apart = apart_along_groups(*factors->b, place);
  const Dim column = place.index.at(parts_.tile[1]);
  const auto along = linear_in(v.b->offset, column);
  const bool in_columns = apart && (as_const(column) || (along && along->coefficient == group));
  for (const auto& [load, fits] : {std::pair(factors->a, in_rows == group), {factors->b, in_columns}})
    if (!fits || !load->computed.empty())
      refuse(fmt::format("elements of `{}` do not lie in groups of {} that `{}` takes",
                         c_.buffers[static_cast<size_t>(load->buffer)].name, loop.dot->group,
                         loop.dot->name));
  v.terms = terms_at_once(place.dot);
  v.stride = in_columns ? apart : group;
  return make(std::move(v));
}

}  // namespace quern::loops
