// The results of a tile, whose lanes are apart in memory, stored along another of its loops.

#include <algorithm>

#include "jit/schedule/nest_writer.h"

namespace quern::loops {

namespace {

StmtPtr unrolled(Dim var, int64_t extent, Block body) {
  Stmt loop{StmtKind::For};
  loop.var = var;
  loop.extent = dim_const(extent);
  loop.loop = LoopKind::Unroll;
  loop.width = static_cast<int>(extent);
  loop.body = std::move(body);
  return make(std::move(loop));
}

/// Of a tile: each vector is code of its own.
StmtPtr in_lanes(Dim var, int64_t extent, int64_t width, Block body) {
  Stmt loop{StmtKind::For};
  loop.var = var;
  loop.extent = dim_const(extent);
  loop.loop = LoopKind::Vectorize;
  loop.width = static_cast<int>(width);
  loop.unrolled = true;
  loop.body = std::move(body);
  return make(std::move(loop));
}

}  // namespace

/// All of a tile, a vector's width of its rows and lanes at a time.
Block NestWriter::turned_write(const Place& place) {
  const int along = nest_.turned_write_, lanes = nest_.turned_lanes_;
  const auto plain = [&](const Place& p) { return Block{make(store_at(p))}; };
  const int64_t rows = *as_const(extent_of(along, place)), width = loop_at(lanes).width;
  if (rows < 2) return loops(parts_.tile, 0, place, plain);
  std::vector<int> others = parts_.tile;
  std::erase_if(others, [&](int loop) { return loop == along || loop == lanes; });
  const int64_t run = run_of_lanes(place), groups = width / run, most = *tile_extent(lanes, place);
  return loops(others, 0, place, [&](const Place& p) {
    Block all;
    for (int64_t vector = 0; vector < most; vector += width)
      for (int64_t row = 0; row < rows; row += groups) {
        Block part = turned_vector(p, vector, {row, std::min(groups, rows - row)}, run);
        all.insert(all.end(), part.begin(), part.end());
      }
    return all;
  });
}

/// How many lanes follow each other in memory, where those of the next row follow these; or one.
int64_t NestWriter::run_of_lanes(Place place) const {
  const int64_t width = loop_at(nest_.turned_lanes_).width;
  const auto extent = as_const(extent_of(nest_.turned_lanes_, place));
  for (const int loop : parts_.tile) {
    place.index[loop] = dim_var(loop_at(loop).name);
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

/// Of a tile the vectors from lane `vector` on of some of its rows.
Block NestWriter::turned_vector(const Place& place, int64_t vector, RowsOfTile rows, int64_t run) const {
  const int along = nest_.turned_write_, lanes = nest_.turned_lanes_;
  const Reduction& r = c_.reductions[0];
  const int64_t width = loop_at(lanes).width, groups = width / run;
  Stmt tile{StmtKind::Declare};
  tile.local = c_.locals;
  tile.dtype = r.accumulator;
  tile.shape = {groups, width};
  tile.width = static_cast<int>(width);
  tile.value = constant(Scalar::from_int(tile.dtype, 0));
  Stmt turn{StmtKind::Turn};
  turn.local = tile.local;
  turn.width = static_cast<int>(run);
  if (rows.count < groups) turn.extent = dim_const(rows.count);

  const Dim row = dim_var(loop_at(along).name), lane = dim_var(loop_at(lanes).name);
  Place from = place;
  from.index[along] = dim_add(row, dim_const(rows.first));
  from.index[lanes] = dim_add(lane, dim_const(vector));
  Stmt take{StmtKind::Assign};
  take.local = tile.local;
  take.indices = {row, lane};
  Value accumulator{ValueKind::Local, r.accumulator};
  accumulator.local = r.local;
  accumulator.indices = tile_indices(from);
  take.value = std::make_shared<const Value>(std::move(accumulator));
  const Block taken{in_lanes(lane, width, width, {make(std::move(take))})};

  const Dim group = dim_var(loop_at(lanes).name), place_in = dim_var(loop_at(along).name);
  const int64_t left = *tile_extent(lanes, place) - vector, count = std::min(groups, (left + run - 1) / run);
  const Dim run_dim = dim_const(run);
  Place to = place;
  to.facts.add_index(group, dim_const(count));
  to.facts.add_index(place_in, dim_const(rows.count * run));
  to.index[along] = dim_add(dim_floordiv(place_in, run_dim), dim_const(rows.first));
  to.index[lanes] =
      dim_add(dim_add(dim_mul(group, run_dim), dim_floormod(place_in, run_dim)), dim_const(vector));
  Stmt store = store_at(to);
  store.value = map_values(store.value, [&](const Value& v) -> ValuePtr {
    if (v.kind != ValueKind::Local || v.local != r.local) return nullptr;
    Value turned = v;
    turned.local = tile.local;
    turned.indices = {group, place_in};
    return std::make_shared<const Value>(std::move(turned));
  });
  Block stored{in_lanes(place_in, rows.count * run, width, {make(std::move(store))})};
  if (const Dim extent = extent_of(lanes, place); !as_const(extent)) {
    Stmt some{StmtKind::If};
    some.checks = {{dim_add(group, dim_const(vector)), nullptr, extent, nullptr}};
    some.body = std::move(stored);
    stored = {make(std::move(some))};
  }
  return {make(std::move(tile)), unrolled(row, rows.count, taken), make(std::move(turn)),
          unrolled(group, count, std::move(stored))};
}

}  // namespace quern::loops
