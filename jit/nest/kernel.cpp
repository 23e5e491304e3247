// The loops of a nest as statements.

#include <algorithm>
#include <numeric>

#include "ir/base/result.h"
#include "jit/loops/machine_model.h"
#include "jit/nest/writer.h"

namespace quern::loops {

Kernel NestWriter::write() {
  Kernel kernel;
  kernel.buffers = c_.buffers;
  kernel.dims = c_.dims;
  kernel.locals = c_.locals + (nest_.turned_ >= 0 || nest_.turned_write_ != kNoLoop ? 1 : 0);
  kernel.traps = c_.traps;
  is_numbered_ = loops_are_numbered();
  const Place place = outermost();
  for (const Nest::Fill& fill : nest_.fills_)
    if (fill.loop == Nest::kBeforeAll) fill_whole(fill, place, kernel.body);
  LoopIds outer = parts_.outer;
  if (nest_.turned_ >= 0) outer.resize(outer.size() - 2);
  const Block rest = loops(
      outer, 0, place, [this](const Place& p) { return nest_.turned_ >= 0 ? turned_tile(p) : element(p); });
  kernel.body.insert(kernel.body.end(), rest.begin(), rest.end());
  for (const auto& [scratch, shape] : shapes_) {
    std::vector<Dim>& dims = kernel.buffers[static_cast<size_t>(scratch)].shape;
    dims.clear();
    for (const int64_t extent : shape)
      if (extent != 1) dims.push_back(dim_const(extent));
  }
  if (!parts_.memory.empty())
    kernel.buffers[static_cast<size_t>(nest_.written_scratch_)].dtype = c_.reductions[0].accumulator;
  kernel.range = range_;
  if (range_) kernel.work = work_of(c_);
  return kernel;
}

/// Loops of a tile have indices known at code generation.
LoopKind NestWriter::kind_of(LoopId loop) const {
  const LoopKind kind = loop_at(loop).kind;
  return is_in_tile(loop) && kind == LoopKind::Serial ? LoopKind::Unroll : kind;
}

bool NestWriter::is_in_tile(LoopId loop) const {
  return std::count(parts_.tile.begin(), parts_.tile.end(), loop) != 0;
}

// --- indices ---

/// For splits with uniform steps, these are known before their loops.
NestWriter::Place NestWriter::outermost() const {
  Place place;
  for (size_t s = 0; s < nest_.splits_.size(); ++s) {
    const Nest::Split& split = nest_.splits_[s];
    if (const auto count = nest_.even_count(split))
      place.steps[static_cast<int>(s)] = {dim_const(*count), dim_const(0), dim_const(split.factor)};
  }
  return place;
}

Dim NestWriter::extent_of(LoopId loop, const Place& place) const {
  const Nest::Loop& l = loop_at(loop);
  if (l.extent) return l.extent;
  const auto steps = place.steps.find(l.made_by);
  QUERN_CHECK(steps != place.steps.end());
  const bool is_outer = nest_.split_of(loop).outer == loop;
  return is_outer ? steps->second.count : steps->second.factor;
}

/// The loop's index, or null if the loops it consists of have none yet.
Dim NestWriter::index_of(LoopId loop, const Place& place) const {
  if (const auto known = place.index.find(loop); known != place.index.end()) return known->second;
  for (size_t s = 0; s < nest_.splits_.size(); ++s) {
    const Nest::Split& split = nest_.splits_[s];
    if (split.loop != loop) continue;
    const Dim outer = index_of(split.outer, place);
    const Dim inner = index_of(split.inner, place);
    if (!outer || !inner) return nullptr;
    const Steps& steps = place.steps.at(static_cast<int>(s));
    return dim_add(dim_add(dim_mul(outer, steps.factor), inner), steps.start);
  }
  for (const Nest::Fuse& fuse : nest_.fuses_) {
    if (fuse.outer != loop && fuse.inner != loop) continue;
    const Dim fused = index_of(fuse.fused, place);
    if (!fused) return nullptr;
    const Dim extent = loop_at(fuse.inner).extent;
    return fuse.outer == loop ? dim_floordiv(fused, extent) : dim_floormod(fused, extent);
  }
  return nullptr;
}

DimMap NestWriter::indices(const Place& place) const {
  DimMap map;
  for (const Nest::Loop& l : nest_.table_)
    if (const Dim index = index_of(nest_.id_of(l), place)) map.emplace(l.symbol, index);
  return map;
}

Dim NestWriter::here(Dim d, const DimMap& map, const Facts& facts) {
  return simplify(quern::substitute(d, map), facts);
}

// --- loops ---

std::vector<NestWriter::Steps> NestWriter::steps_of(const Nest::Split& split, const Place& place) const {
  std::vector<Steps> steps = even_steps(split, place);
  if (!loop_at(split.outer).peeled) return steps;
  const auto cut = [](Steps& from, int64_t first) {
    const int64_t count = *as_const(from.count);
    Steps rest = from;
    from.count = dim_const(first);
    rest.count = dim_const(count - first);
    rest.start = dim_add(from.start, dim_mul(from.count, from.factor));
    return rest;
  };
  const auto is_many = [](const Steps& s) { return as_const(s.count).value_or(0) > 1; };
  if (!steps.empty() && is_many(steps.front())) steps.insert(steps.begin() + 1, cut(steps.front(), 1));
  if (!steps.empty() && is_many(steps.back()))
    steps.push_back(cut(steps.back(), *as_const(steps.back().count) - 1));
  return steps;
}

std::vector<NestWriter::Steps> NestWriter::even_steps(const Nest::Split& split, const Place& place) const {
  const Dim extent = extent_of(split.loop, place), factor = dim_const(split.factor), zero = dim_const(0);
  const LoopKind inner = kind_of(split.inner);
  const auto known = as_const(extent);
  if (!known && inner == LoopKind::Unroll) return cascade(extent, split.factor);
  std::vector<Steps> steps;
  if (!known) {
    const Dim count = dim_floordiv(extent, factor), rest = dim_floormod(extent, factor);
    steps.push_back({count, zero, factor});
    // Nothing is left of 8 n in steps of 4.
    if (!is_const(rest, 0)) steps.push_back({dim_min(rest, dim_const(1)), dim_mul(count, factor), rest});
    return steps;
  }
  const auto add = [&](int64_t count, int64_t start, int64_t size) {
    if (count > 0 && size > 0) steps.push_back({dim_const(count), dim_const(start), dim_const(size)});
  };
  if (inner == LoopKind::Unroll && *known > 0) {
    const int64_t count = (*known + split.factor - 1) / split.factor;
    const int64_t most = (*known + count - 1) / count, many = *known - count * (most - 1);
    add(many, 0, most);
    add(count - many, many * most, most - 1);
    return steps;
  }
  add(*known / split.factor, 0, split.factor);
  add(1, *known / split.factor * split.factor, *known % split.factor);
  return steps;
}

/// Fully unrolled steps over an extent known only at run time.
std::vector<NestWriter::Steps> NestWriter::cascade(Dim extent, int64_t factor) {
  std::vector<Steps> steps;
  Dim start = dim_const(0), left = extent;
  for (int64_t size = factor;; size = size > 4 ? 4 : 1) {
    const Dim each = dim_const(size), count = dim_floordiv(left, each);
    steps.push_back({count, start, each});
    start = dim_add(start, dim_mul(count, each));
    left = dim_floormod(left, each);
    if (size == 1 || is_const(left, 0)) return steps;
  }
}

/// The loops from the k-th on around the result of `inside`.
Block NestWriter::loops(const LoopIds& order, size_t k, const Place& place, const Inside& inside) {
  if (k == order.size()) return inside(place);
  const LoopId loop = order[k];
  const int made_by = loop_at(loop).made_by;
  const bool is_outer = made_by >= 0 && nest_.split_of(loop).outer == loop;
  if (!is_outer) return one_loop(order, k, extent_of(loop, place), place, inside);
  Block all;
  Dim before = place.before;
  for (const Steps& steps : steps_of(nest_.split_of(loop), place)) {
    Place here = place;
    here.steps[made_by] = steps;
    here.before = before;
    if (is_in_range(loop)) before = dim_add(before, dim_mul(steps.count, range_inside(order, k, here)));
    Block part = one_loop(order, k, steps.count, std::move(here), inside);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Block NestWriter::one_loop(const LoopIds& order, size_t k, Dim extent, Place place, const Inside& inside) {
  const LoopId loop = order[k];
  const Nest::Loop& l = loop_at(loop);
  const bool ranged = loop == nest_.parallel_;
  const bool is_bound = l.bound != GridIndex::None;
  if (ranged && !range_) range_ = range_from(order, is_numbered_ ? 0 : k, place);
  if (l.dot && is_const(extent, terms_at_once(loop))) {
    place.index[loop] = dim_const(0);
    place.dot = loop;
    return loops(order, k + 1, place, inside);
  }
  if (is_const(extent, 1) && l.kind != LoopKind::Vectorize && !ranged && !is_bound) {
    place.index[loop] = dim_const(0);
    return step(order, k, std::move(place), inside);
  }
  For stmt{
      .var = dim_var(nest_.name(loop)), .extent = extent, .execution = execution_of(loop, extent, place)};
  place.index[loop] = is_const(extent, 1) ? dim_const(0) : stmt.var;
  place.facts.add_index(stmt.var, extent);
  if (!ranged && is_in_range(loop))
    place.before = dim_add(place.before, dim_mul(stmt.var, range_inside(order, k, place)));
  stmt.body = step(order, k, std::move(place), inside);
  return {make(std::move(stmt))};
}

/// How the steps of a loop run at a place.
Execution NestWriter::execution_of(LoopId loop, Dim extent, const Place& place) const {
  constexpr int64_t kMost = 64;
  const Nest::Loop& l = loop_at(loop);
  const auto known = as_const(extent);
  const bool in_tile = is_in_tile(loop), is_whole = l.width == 0 || in_tile;
  const auto width = static_cast<int>(l.width);
  switch (kind_of(loop)) {
    case LoopKind::Vectorize:
      return Vectorized{width, in_tile, in_tile && !known ? *tile_extent(loop, place) : 0};
    case LoopKind::Unroll:
      if (is_whole && known.value_or(kMost + 1) > kMost) break;
      return unrolled(loop, is_whole ? *known : l.width, place);
    case LoopKind::Serial: break;
  }
  return Serial{loop == nest_.parallel_ ? place.before : nullptr, l.bound};
}

/// LLVM would keep what a step reads for later steps that read it again, and spill accumulators of a large tile: without
/// fences, the 7x7 convolution of a ResNet takes 1.6 times as long with 16 registers. Between steps that share
/// nothing they would only be instructions, 11 of the 56 of a product's loop.
Unrolled NestWriter::unrolled(LoopId loop, int64_t width, const Place& place) const {
  const bool is_reduction = loop_at(loop).kind == LoopKind::Unroll && loop_at(loop).owner != Nest::kResult;
  return {static_cast<int>(width), is_reduction && fills_registers(place) && share_reads(loop, width, place)};
}

/// The code of a step of the k-th loop.
Block NestWriter::step(const LoopIds& order, size_t k, Place place, const Inside& inside) {
  return guarded(order[k], std::move(place), [&](const Place& p) {
    return with_scratch(order[k], p, [&](const Place& q) {
      Block body = prefetches(order[k], q);
      const Block rest = loops(order, k + 1, q, inside);
      body.insert(body.end(), rest.begin(), rest.end());
      return body;
    });
  });
}

/// Whether two of the reduction's `steps` next to each other read one element of a factor, in two rows of the
/// tile: x[2*row + s] does, in a window that moves by 2.
bool NestWriter::share_reads(LoopId loop, int64_t steps, const Place& place) const {
  Place inside = place;
  const auto placed = [&](LoopId l) { return inside.index[l] = dim_var("step"); };
  const Dim step = placed(loop);
  std::map<LoopId, Dim> rows;
  for (const LoopId row : parts_.tile)
    if (loop_at(row).kind != LoopKind::Vectorize) rows.emplace(row, placed(row));
  const DimMap map = indices(inside);
  bool found = false;
  for_each<LoadValue>(c_.reductions[static_cast<size_t>(loop_at(loop).owner)].value,
                      [&](const LoadValue& load) {
                        const Dim offset = here(load.offset, map, place.facts);
                        const int64_t stride = known_stride(offset, step).value_or(0);
                        for (const auto& [row, index] : rows) {
                          const int64_t pitch = known_stride(offset, index).value_or(0);
                          if (stride == 0 || pitch == 0) continue;
                          const int64_t meet = std::lcm(stride, pitch);
                          found = found || (meet / stride < steps && meet / pitch < most_in_tile(row, place));
                        }
                      });
  return found;
}

/// The most steps that a loop of the tile has at this place; 1 where that is not known.
int64_t NestWriter::most_in_tile(LoopId loop, const Place& place) const {
  const int made_by = loop_at(loop).made_by;
  const bool is_placed = made_by < 0 || place.steps.contains(made_by);
  return (is_placed ? tile_extent(loop, place) : nest_.most_steps(loop)).value_or(1);
}

/// Whether a tile takes more than half of the registers.
bool NestWriter::fills_registers(const Place& place) const {
  if (loop_of_matrices()) return false;
  int64_t vectors = 1, widest = 1;
  for (const LoopId loop : parts_.tile) {
    const int64_t lanes = loop_at(loop).kind == LoopKind::Vectorize ? loop_at(loop).width : 1;
    widest = std::max(widest, lanes);
    vectors *= (most_in_tile(loop, place) + lanes - 1) / lanes;
  }
  const auto bytes = static_cast<int64_t>(c_.reductions[0].accumulator.bytes());
  return 2 * vectors > registers_of(widest * bytes);
}

/// Checks of a reduction's terms, as soon as the loops that they depend on have indices.
Block NestWriter::guarded(LoopId loop, Place place, const Inside& inside) {
  if (loop_at(loop).owner == Nest::kResult || loop_at(loop).kind == LoopKind::Vectorize) return inside(place);
  const Reduction& r = c_.reductions[static_cast<size_t>(loop_at(loop).owner)];
  if (r.checks.empty()) return inside(place);
  const DimMap map = indices(place);
  std::vector<BoundsCheck> guards;
  for (const BoundsCheck& check : r.checks) {
    if (check.computed || contains(place.held, check)) continue;
    BoundsCheck now = check;
    now.index = here(check.index, map, place.facts);
    now.extent = here(check.extent, map, place.facts);
    if (is_open(now.index) || is_open(now.extent) || runs_in_lanes(now.index, place)) continue;
    place.held.push_back(check);
    const bool proved =
        prove_nonnegative(now.index, place.facts) && prove_less(now.index, now.extent, place.facts);
    if (!proved) guards.push_back(now);
  }
  if (guards.empty()) return inside(place);
  return {only_if(std::move(guards), inside(place))};
}

/// Whether it depends on a loop without an index.
bool NestWriter::is_open(Dim d) const {
  return std::any_of(nest_.table_.begin(), nest_.table_.end(),
                     [&](const Nest::Loop& l) { return contains_var(d, l.symbol); });
}

bool NestWriter::runs_in_lanes(Dim d, const Place& place) const {
  for (const auto& [loop, index] : place.index)
    if (loop_at(loop).kind == LoopKind::Vectorize && index->kind == DimKind::Var && contains_var(d, index))
      return true;
  return false;
}

Kernel Nest::kernel() const { return NestWriter(*this).write(); }

}  // namespace quern::loops
