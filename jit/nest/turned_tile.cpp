// A square of the two innermost loops, loaded along one and stored along the other.

#include "jit/nest/writer.h"

namespace quern::loops {

/// Loads a tile along one of its loops, and stores it along the other.
Block NestWriter::turned_tile(const Place& place) {
  const LoopId v = nest_.order_[nest_.order_.size() - 2], u = nest_.order_.back();
  const int64_t width = nest_.split_of(v).factor;
  const DType dtype = c_.buffers[static_cast<size_t>(nest_.turned_)].dtype;
  const int tile = c_.locals;
  Block body{make(Declare{.local = tile,
                          .dtype = dtype,
                          .value = constant(Scalar::from_int(dtype, 0)),
                          .shape = {width, width},
                          .width = static_cast<int>(width)})};
  const Block loads = square(u, v, width, place, [&](const Place& p) {
    const std::vector<Dim> at{p.index.at(u), p.index.at(v)};
    return Block{make(Assign{.local = tile, .indices = at, .value = value(turned_read(), indices(p), p)})};
  });
  body.insert(body.end(), loads.begin(), loads.end());
  body.push_back(make(Transpose{.local = tile}));
  const Block stores = square(v, u, width, place, [&](const Place& p) {
    Store store = store_at(p);
    store.value = with_turned(store.value, {p.index.at(v), p.index.at(u)});
    return Block{make(std::move(store))};
  });
  body.insert(body.end(), stores.begin(), stores.end());
  return body;
}

/// The unrolled steps of `rows`, each over `columns` in lanes.
Block NestWriter::square(LoopId rows, LoopId columns, int64_t width, Place place,
                         const Inside& inside) const {
  const Dim row = dim_var(nest_.name(rows)), column = dim_var(nest_.name(columns));
  const Dim all_rows = extent_of(rows, place), all_columns = extent_of(columns, place);
  place.index[rows] = row;
  place.index[columns] = column;
  place.facts.add_index(row, all_rows);
  place.facts.add_index(column, all_columns);
  Block body{loop_in_lanes(column, all_columns, width, width, inside(place))};
  const auto known = as_const(all_rows);
  if (!known) body = {only_if({{row, nullptr, all_rows}}, std::move(body))};
  return {unrolled_loop(row, known.value_or(width), std::move(body))};
}

ValuePtr NestWriter::turned_read() const {
  ValuePtr read;
  for_each<LoadValue>(c_.value, [&](const LoadValue& load) {
    if (load.buffer == nest_.turned_) read = make(load);
  });
  return read;
}

/// The value with reads of the buffer replaced by the tile.
ValuePtr NestWriter::with_turned(const ValuePtr& from, const std::vector<Dim>& place) const {
  return replace<LoadValue>(from, [&](const LoadValue& load) -> ValuePtr {
    if (load.buffer != nest_.turned_) return nullptr;
    return make(LocalValue{load.dtype, c_.locals, place});
  });
}

}  // namespace quern::loops
