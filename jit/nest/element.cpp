// The innermost code of a nest: the statements of an element, and their values.

#include <algorithm>

#include "ir/base/result.h"
#include "jit/nest/dot.h"
#include "jit/nest/writer.h"

namespace quern::loops {

Block NestWriter::element(const Place& place) {
  if (!parts_.memory.empty())
    return loops(parts_.memory, 0, place, [&](const Place& p) { return memory_terms(p); });
  Block body;
  for (size_t r = 0; r < c_.reductions.size(); ++r) top_reduction(static_cast<int>(r), place, body);
  Block stores = nest_.turned_write_ != kNoLoop
                     ? turned_write(place)
                     : loops(parts_.tile, 0, place, [&](const Place& p) { return Block{make(store_at(p))}; });
  body.insert(body.end(), stores.begin(), stores.end());
  return body;
}

Store NestWriter::store_at(const Place& p) const {
  const DimMap map = indices(p);
  Store store{.buffer = output_of(c_.buffers), .offset = c_.store_offset};
  if (const auto found = p.scratch.find(store.buffer); found != p.scratch.end()) {
    store.buffer = found->second.buffer;
    store.offset = offset_in(found->second.region, c_.vars);
  }
  store.offset = here(store.offset, map, p.facts);
  store.value = value(c_.value, map, p);
  return store;
}

void NestWriter::top_reduction(int number, const Place& place, Block& body) {
  const Reduction& r = c_.reductions[static_cast<size_t>(number)];
  const DimMap map = indices(place);
  if (parts_.tile.empty()) {
    const Reduction own = nested_at(r, map, place);
    if (own.is_let || own.vars.empty()) return add_reduction(own, serial_loop, body);
    open_reduction(own, body);
  } else {
    declare_tile(r, place, body);
  }
  const Block all = terms(number, place);
  body.insert(body.end(), all.begin(), all.end());
  if (!loop_of_matrices()) return;
  body.push_back(make(Settle{.local = r.local}));
}

/// The loops of a reduction that add to its accumulators.
Block NestWriter::terms(int number, const Place& place) {
  LoopIds order;
  for (const LoopId loop : parts_.reduced)
    if (loop_at(loop).owner == number) order.push_back(loop);
  return loops(order, 0, place, [&](const Place& inner) {
    return loops(parts_.tile, 0, inner,
                 [&](const Place& p) { return term(c_.reductions[static_cast<size_t>(number)], p); });
  });
}

Block NestWriter::term(const Reduction& r, const Place& place) {
  const DimMap map = indices(place);
  Block body;
  for (const Reduction& nested : r.inner) add_reduction(nested_at(nested, map, place), serial_loop, body);
  Reduce reduce{.local = r.local, .indices = tile_indices(place), .reduce = r.kind};
  reduce.value = place.dot != kNoLoop ? dot(r, place) : value(r.value, map, place, &r.checks);
  for (const BoundsCheck& check : r.checks)
    if (!contains(place.held, check)) reduce.checks.push_back(this->check(check, map, place));
  reduce.index_local = r.index_local;
  reduce.index_value = value(r.index_value, map, place);
  body.push_back(make(std::move(reduce)));
  return body;
}

ValuePtr NestWriter::dot(const Reduction& r, const Place& place) {
  const DotIntrinsicPtr& intrinsic = loop_at(place.dot).dot;
  if (intrinsic->is_of_matrices()) return product_of_matrices(r, place);
  const auto factors = dot_factors(r.value, *intrinsic);
  QUERN_CHECK(factors);
  const DimMap map = indices(place);
  return make(DotValue{r.accumulator, intrinsic, factor(factors->a, map, place, r),
                       factor(factors->b, map, place, r)});
}

/// The load of an intrinsic's factor for the terms of a reduction.
LoadPtr NestWriter::factor(const LoadPtr& load, const DimMap& map, const Place& place,
                           const Reduction& r) const {
  LoadPtr placed = as_shared<LoadValue>(value(load, map, place, &r.checks));
  QUERN_CHECK(placed);
  return placed;
}

std::vector<Dim> NestWriter::tile_indices(const Place& place) const {
  std::vector<Dim> found;
  for (const LoopId loop : parts_.tile) found.push_back(place.index.at(loop));
  return found;
}

void NestWriter::declare_tile(const Reduction& r, const Place& place, Block& body) const {
  Declare stmt{
      .local = r.local, .dtype = r.accumulator, .value = constant(reduce_identity(r.kind, r.accumulator))};
  for (const LoopId loop : parts_.tile) {
    const auto extent = tile_extent(loop, place);
    QUERN_CHECK(extent);
    stmt.shape.push_back(*extent);
    if (loop_at(loop).kind == LoopKind::Vectorize) stmt.width = static_cast<int>(loop_at(loop).width);
  }
  if (const Nest::Loop* loop = loop_of_matrices()) {
    stmt.matrices = loop->dot;
    stmt.terms = terms_at_once(nest_.id_of(*loop));
  }
  body.push_back(make(std::move(stmt)));
}

/// The extent, or its maximum for a part of a split.
std::optional<int64_t> NestWriter::tile_extent(LoopId loop, const Place& place) const {
  const auto known = as_const(extent_of(loop, place));
  if (known || loop_at(loop).made_by < 0) return known;
  return nest_.split_of(loop).factor;
}

// --- values ---

BoundsCheck NestWriter::check(BoundsCheck check, const DimMap& map, const Place& place) const {
  if (check.index) check.index = here(check.index, map, place.facts);
  if (check.computed) check.computed = value(check.computed, map, place);
  check.extent = here(check.extent, map, place.facts);
  return check;
}

/// A value with indices substituted, read from scratch buffers where available. `absence`: checks of the
/// whole term; where they fail, the result of a load is unused.
ValuePtr NestWriter::value(const ValuePtr& from, const DimMap& map, const Place& place,
                           const std::vector<BoundsCheck>* absence) const {
  return placed(from_scratch(from, place), map, place, absence);
}

/// Maps the fields of a value to a place.
struct NestWriter::PlacedFields {
  const NestWriter& writer;
  const DimMap& map;
  const Place& place;
  const std::vector<BoundsCheck>* absence;

  template <class Pointer>
  void operator()(role::Child, Pointer& child) const {
    using Node = typename Pointer::element_type;
    child = std::static_pointer_cast<Node>(writer.placed(child, map, place, absence));
  }
  void operator()(role::Child, std::vector<ValuePtr>& children) const {
    for (ValuePtr& child : children) (*this)(role::Child(), child);
  }
  void operator()(role::Otherwise, ValuePtr& otherwise) const {
    otherwise = writer.placed(otherwise, map, place, nullptr);
  }
  void operator()(role::Offsets, std::vector<ComputedOffset>& offsets) const {
    for (ComputedOffset& c : offsets)
      c = {writer.placed(c.index, map, place, nullptr), here(c.stride, map, place.facts)};
  }
  void operator()(role::Checks, std::vector<BoundsCheck>& checks) const {
    for (BoundsCheck& c : checks) c = writer.check(c, map, place);
  }
  void operator()(role::Dims, Dim& dim) const {
    if (dim) dim = here(dim, map, place.facts);
  }
  template <class Role, class T>
  void operator()(Role, const T&) const {}
};

ValuePtr NestWriter::placed(const ValuePtr& from, const DimMap& map, const Place& place,
                            const std::vector<BoundsCheck>* absence) const {
  if (!from) return nullptr;
  return visit(*from, [&]<class Node>(const Node& node) -> ValuePtr {
    Node copy = node;
    if constexpr (std::is_base_of_v<CheckedValue, Node>)
      std::erase_if(copy.checks, [&](const BoundsCheck& c) { return contains(place.held, c); });
    if constexpr (std::is_same_v<Node, LocalValue>)
      if (!parts_.tile.empty()) copy.indices = tile_indices(place);
    if constexpr (std::is_same_v<Node, LoadValue>) {
      copy.indices.clear();
      copy.unseen = absence && is_unseen(copy, *absence);
    }
    for_each_field(PlacedFields{*this, map, place, absence}, copy);
    return make(std::move(copy));
  });
}

/// Whether all of the load's checks are checks of the whole term.
bool NestWriter::is_unseen(const LoadValue& load, const std::vector<BoundsCheck>& absence) const {
  const bool in_scratch = c_.buffers[static_cast<size_t>(load.buffer)].is_scratch;
  return !parts_.tile.empty() && !load.checks.empty() && !in_scratch &&
         std::ranges::all_of(load.checks,
                             [&](const BoundsCheck& c) { return !c.computed && contains(absence, c); });
}

}  // namespace quern::loops
