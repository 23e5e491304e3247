// The results of a tile with strided lanes, stored along another of its loops.

#include <algorithm>

#include "jit/nest/writer.h"

namespace quern::loops {

/// Writes a whole tile, a vector's width of rows and lanes at a time.
Block NestWriter::turned_write(const Place& place) {
  const LoopId along = nest_.turned_write_, lanes = nest_.turned_lanes_;
  const auto plain = [&](const Place& p) { return Block{make(store_at(p))}; };
  const int64_t rows = *as_const(extent_of(along, place)), width = loop_at(lanes).width;
  if (rows < 2) return loops(parts_.tile, 0, place, plain);
  LoopIds others = parts_.tile;
  std::erase_if(others, [&](LoopId loop) { return loop == along || loop == lanes; });
  const int64_t run = run_of_lanes(place), most = *tile_extent(lanes, place);
  const bool is_finished = is_finished_in_lanes(place);
  return loops(others, 0, place, [&](const Place& p) {
    Block all;
    for (int64_t lane = 0; lane < most; lane += width)
      for (int64_t row = 0; row < rows; row += width / run) {
        const TurnedPart part{lane, row, std::min(width / run, rows - row), width, run, is_finished};
        for (const Block& statements : {turned(p, part), stored_along(p, part)})
          all.insert(all.end(), statements.begin(), statements.end());
      }
    return all;
  });
}

/// Whether the operands of the result are neighbours along the lanes of the sums rather than along the loop that stores
/// them: then the result is computed first, and transposed. Lanes that the tile does not have must not be read.
bool NestWriter::is_finished_in_lanes(const Place& place) const {
  const LoopId lanes = nest_.turned_lanes_;
  const Reduction& r = c_.reductions[0];
  const auto extent = as_const(extent_of(lanes, place));
  if (c_.value->dtype != r.accumulator || !extent || *extent % loop_at(lanes).width != 0) return false;
  Place inside = place;
  for (const LoopId loop : parts_.tile) inside.index[loop] = dim_var(nest_.name(loop));
  const DimMap map = indices(inside);
  const auto neighbours = [&](const LoadValue& load, LoopId loop) {
    const auto linear = linear_in(here(load.offset, map, inside.facts), inside.index.at(loop));
    return linear && is_const(linear->coefficient, 1);
  };
  int in_lanes = 0;
  for_each<LoadValue>(c_.value, [&](const LoadValue& load) {
    in_lanes +=
        static_cast<int>(neighbours(load, lanes)) - static_cast<int>(neighbours(load, nest_.turned_write_));
  });
  return in_lanes > 0;
}

/// How many lanes are contiguous in memory and followed by the next row's; otherwise one.
int64_t NestWriter::run_of_lanes(Place place) const {
  const int64_t width = loop_at(nest_.turned_lanes_).width;
  const auto extent = as_const(extent_of(nest_.turned_lanes_, place));
  for (const LoopId loop : parts_.tile) {
    place.index[loop] = dim_var(nest_.name(loop));
    place.facts.add_index(place.index[loop], extent_of(loop, place));
  }
  if (!extent) return 1;
  const Dim group = dim_var("g"), lane = dim_var("l"), row = place.index.at(nest_.turned_write_);
  for (int64_t run = width / 2; run > 1; run /= 2) {
    Place p = place;
    p.facts.add_index(group, dim_const(*extent / run));
    p.facts.add_index(lane, dim_const(run));
    p.index[nest_.turned_lanes_] = dim_add(dim_mul(group, dim_const(run)), lane);
    const Dim offset = here(c_.store_offset, indices(p), p.facts);
    const auto in_run = linear_in(offset, lane), in_rows = linear_in(offset, row);
    if (in_run && in_rows && is_const(in_run->coefficient, 1) && is_const(in_rows->coefficient, run))
      return run;
  }
  return 1;
}

/// Transposes a part of the accumulators, or of the results.
Block NestWriter::turned(const Place& place, const TurnedPart& part) const {
  const LoopId along = nest_.turned_write_, lanes = nest_.turned_lanes_;
  const Reduction& r = c_.reductions[0];
  const Dim row = dim_var(nest_.name(along)), lane = dim_var(nest_.name(lanes));
  Place from = place;
  from.index[along] = dim_add(row, dim_const(part.row));
  from.index[lanes] = dim_add(lane, dim_const(part.lane));
  const int tile = c_.locals;
  const ValuePtr taken =
      part.is_finished ? store_at(from).value : make(LocalValue{r.accumulator, r.local, tile_indices(from)});
  const StmtPtr take = make(Assign{.local = tile, .indices = {row, lane}, .value = taken});
  const bool is_full = part.rows == part.groups();
  return {make(Declare{.local = tile,
                       .dtype = r.accumulator,
                       .value = constant(Scalar::from_int(r.accumulator, 0)),
                       .shape = {part.groups(), part.width},
                       .width = static_cast<int>(part.width)}),
          unrolled_loop(row, part.rows,
                        {loop_in_lanes(lane, dim_const(part.width), part.width, part.width, {take})}),
          make(Transpose{.local = tile,
                         .width = static_cast<int>(part.run),
                         .rows = is_full ? std::nullopt : std::optional(part.rows)})};
}

/// Stores the transposed part, for the lanes that the tile has.
Block NestWriter::stored_along(const Place& place, const TurnedPart& part) const {
  const LoopId along = nest_.turned_write_, lanes = nest_.turned_lanes_;
  const Reduction& r = c_.reductions[0];
  const int64_t left = *tile_extent(lanes, place) - part.lane;
  const int64_t groups = std::min(part.groups(), (left + part.run - 1) / part.run);
  const Dim group = dim_var(nest_.name(lanes)), at = dim_var(nest_.name(along));
  const Dim run = dim_const(part.run);
  const int64_t count = part.rows * part.run;
  Place to = place;
  to.facts.add_index(group, dim_const(groups));
  to.facts.add_index(at, dim_const(count));
  to.index[along] = dim_add(dim_floordiv(at, run), dim_const(part.row));
  to.index[lanes] = dim_add(dim_add(dim_mul(group, run), dim_floormod(at, run)), dim_const(part.lane));
  Store store = store_at(to);
  const ValuePtr turned = make(LocalValue{r.accumulator, c_.locals, {group, at}});
  store.value = part.is_finished ? turned : replace<LocalValue>(store.value, [&](const LocalValue& v) {
    return v.local == r.local ? turned : nullptr;
  });
  Block stored{loop_in_lanes(at, dim_const(count), part.width, count, {make(std::move(store))})};
  if (const Dim extent = extent_of(lanes, place); !as_const(extent))
    stored = {only_if({{dim_add(group, dim_const(part.lane)), nullptr, extent}}, std::move(stored))};
  return {unrolled_loop(group, groups, std::move(stored))};
}

}  // namespace quern::loops
