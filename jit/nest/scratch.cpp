// Scratch memory: filling, reading, and results accumulated in it.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ir/base/result.h"
#include "jit/nest/writer.h"

namespace quern::loops {

namespace {

void append(Block& body, const Block& more) { body.insert(body.end(), more.begin(), more.end()); }

}  // namespace

// --- filling ---

int NestWriter::lanes_for(DType dtype) const {
  constexpr int kVectorBytes = 64;
  for (const LoopId loop : nest_.order_)
    if (loop_at(loop).kind == LoopKind::Vectorize) return static_cast<int>(loop_at(loop).width);
  return kVectorBytes / static_cast<int>(dtype.bytes());
}

/// Whether an element's reads are contiguous along the variable, like the elements.
bool NestWriter::fills_in_lanes(const Computation& c, Dim along) {
  bool alike = c.reductions.empty();
  for_each<LoadValue>(c.value, [&](const LoadValue& load) {
    const auto linear = linear_in(load.offset, along);
    alike &= linear && load.computed.empty() &&
             (is_const(linear->coefficient, 1) || is_const(linear->coefficient, 0));
  });
  return alike;
}

void NestWriter::fill(const Nest::Fill& fill, const Region& region, const Place& place, Block& body) const {
  Computation c = fill.value;
  Facts facts = place.facts;
  std::vector<Dim> vars, indices;
  std::vector<BoundsCheck> inside;
  DimMap at;
  for (size_t a = 0; a < c.vars.size(); ++a) {
    const bool is_one = is_const(region.extent[a], 1);
    vars.push_back(is_one ? dim_const(0) : dim_var(c.vars[a]->name));
    if (!is_one) facts.add_index(vars[a], region.extent[a]);
    indices.push_back(dim_add(region.base[a], dim_mul(dim_const(region.step[a]), vars[a])));
    at.emplace(c.vars[a], indices[a]);
    if (const BoundsCheck check{simplify(indices[a], facts), nullptr, c.extents[a]};
        !fill.is_copy && !holds(check, facts))
      inside.push_back(check);
  }
  map_dims(c, [&](Dim d) { return simplify(quern::substitute(d, at), facts); });
  c.value = without_checks(c.value, facts);
  Block inner;
  for (const Reduction& r : c.reductions) add_reduction(r, serial_loop, inner);
  const Dim offset = simplify(offset_in(region, indices), facts);
  inner.push_back(make(Store{.buffer = fill.scratch, .offset = offset, .value = c.value}));
  const auto take = [&](std::vector<BoundsCheck> of, Block block) -> Block {
    return of.empty() ? block : Block{only_if(std::move(of), std::move(block))};
  };
  for (size_t k = region.order.size(); k-- > 0;) {
    const size_t axis = region.order[k];
    if (vars[axis]->kind != DimKind::Var) continue;
    const auto first_here = std::stable_partition(
        inside.begin(), inside.end(),
        [&](const BoundsCheck& check) { return !contains_var(check.index, vars[axis]); });
    const std::vector<BoundsCheck> here(first_here, inside.end());
    inside.erase(first_here, inside.end());
    For loop{.var = vars[axis], .extent = region.extent[axis], .body = take(here, std::move(inner))};
    if (k + 1 == region.order.size() && here.empty() && fills_in_lanes(c, vars[axis]))
      loop.execution = Vectorized{lanes_for(c_.buffers[static_cast<size_t>(fill.scratch)].dtype)};
    inner = {make(std::move(loop))};
  }
  append(body, take(inside, std::move(inner)));
}

/// Fills a stage that is computed before all loops.
void NestWriter::fill_whole(const Nest::Fill& fill, const Place& place, Block& body) {
  const Buffer& buffer = c_.buffers[static_cast<size_t>(fill.scratch)];
  Region region;
  region.extent = fill.value.extents;
  int64_t bytes = static_cast<int64_t>(buffer.dtype.bytes());
  for (size_t a = 0; a < region.extent.size(); ++a) {
    const auto extent = as_const(region.extent[a]);
    if (!extent)
      return refuse(fmt::format("how large `{}` is, is not known: it can be computed at a loop, or inline",
                                buffer.name));
    region.base.push_back(dim_const(0));
    region.most.push_back(*extent);
    region.step.push_back(1);
    region.order.push_back(a);
    bytes = std::min(kMostScratch + 1, bytes * *extent);
  }
  if (bytes > kMostScratch)
    return refuse(
        fmt::format("`{}` would take more than 1 MiB of scratch memory: it can be computed at a loop, "
                    "or inline",
                    buffer.name));
  this->fill(fill, region, place, body);
}

/// The reads of a buffer inside a loop.
NestWriter::Reads NestWriter::reads_inside(LoopId loop, int buffer) const {
  Reads reads;
  const std::function<void(const LoadValue&)> inside = [&](const LoadValue& load) {
    if (load.buffer == buffer) reads.indices.push_back(load.indices);
  };
  const std::function<void(const LoadValue&)> outside = [&](const LoadValue& load) {
    if (load.buffer == buffer) reads.is_all = false;
  };
  const std::function<void(const Reduction&)> add_inner = [&](const Reduction& r) {
    for (const Reduction& inner : r.inner) {
      for (size_t k = 0; k < inner.vars.size(); ++k)
        reads.inner.emplace_back(inner.vars[k], inner.extents[k]);
      add_inner(inner);
    }
  };
  const int owner = loop_at(loop).owner;
  for (size_t r = 0; r < c_.reductions.size(); ++r) {
    const bool is_inside = owner == Nest::kResult || owner == static_cast<int>(r);
    for_each<LoadValue>(c_.reductions[r], is_inside ? inside : outside);
    if (is_inside) add_inner(c_.reductions[r]);
  }
  const bool in_terms =
      owner != Nest::kResult || std::count(parts_.memory.begin(), parts_.memory.end(), loop) != 0;
  for_each<LoadValue>(c_.value, in_terms ? outside : inside);
  return reads;
}

/// The step of a loop with the scratch buffers filled in it.
Block NestWriter::with_scratch(LoopId loop, const Place& place, const Inside& inside) {
  const bool is_filled = std::any_of(nest_.fills_.begin(), nest_.fills_.end(),
                                     [&](const Nest::Fill& f) { return f.loop == loop; });
  if (moves_results_ || (!is_filled && loop != nest_.written_)) return inside(place);
  if (!failure_.empty()) return {};
  Block body;
  Place filled = place;
  for (const Nest::Fill& fill : nest_.fills_) {
    if (fill.loop != loop) continue;
    const Buffer& buffer = c_.buffers[static_cast<size_t>(fill.buffer)];
    const Reads reads = reads_inside(loop, fill.buffer);
    if (reads.indices.empty() || (!fill.is_copy && !reads.is_all)) {
      refuse(fmt::format("`{}` is read outside of `{}`", buffer.name, nest_.name(loop)));
      return {};
    }
    const Region held = region(reads, place, buffer.dtype);
    if (is_refused(buffer, loop)) return {};
    keep_shape(fill.scratch, held);
    this->fill(fill, held, place, body);
    filled.scratch.insert_or_assign(
        fill.buffer,
        InScratch{fill.scratch, held, fill.is_copy ? as<LoadValue>(fill.value.value)->otherwise : nullptr});
  }
  append(body, loop == nest_.written_ ? with_result_in_scratch(filled, inside) : inside(filled));
  return body;
}

// --- reading ---

/// A load from the scratch buffer that has the element; null if none has.
ValuePtr NestWriter::scratch_read(const LoadValue& load, const Place& place) const {
  const auto found = place.scratch.find(load.buffer);
  if (found == place.scratch.end()) return nullptr;
  const InScratch& scratch = found->second;
  LoadValue read = load;
  read.buffer = scratch.buffer;
  read.offset = offset_in(scratch.region, load.indices);
  read.indices.clear();
  auto* padding = as<ConstValue>(load.otherwise);
  auto* copied = as<ConstValue>(scratch.otherwise);
  const bool is_copied = padding && copied && padding->constant == copied->constant;
  if (is_copied) read.checks.clear();
  read.otherwise = is_copied ? nullptr : from_scratch(load.otherwise, place);
  return make(std::move(read));
}

ValuePtr NestWriter::from_scratch(const ValuePtr& value, const Place& place) const {
  if (place.scratch.empty()) return value;
  return replace<LoadValue>(value, [&](const LoadValue& load) { return scratch_read(load, place); });
}

/// A reduction without loops in the nest.
Reduction NestWriter::nested_at(Reduction r, const DimMap& map, const Place& place) const {
  if (!place.scratch.empty())
    replace<LoadValue>(r, [&](const LoadValue& load) { return scratch_read(load, place); });
  substitute(r, map);
  return r;
}

// --- results ---

LoopIds NestWriter::results_inside() const {
  const auto& order = nest_.order_;
  LoopIds found;
  std::copy_if(std::find(order.begin(), order.end(), nest_.written_) + 1, order.end(),
               std::back_inserter(found), [&](LoopId loop) { return loop_at(loop).owner == Nest::kResult; });
  return found;
}

/// The step of a loop whose results go to scratch memory first, where accumulators live if loops of the
/// reduction enclose loops of the result.
Block NestWriter::with_result_in_scratch(const Place& place, const Inside& inside) {
  const int output = output_of(c_.buffers), scratch = nest_.written_scratch_;
  const bool in_memory = !parts_.memory.empty();
  const DType dtype =
      in_memory ? c_.reductions[0].accumulator : c_.buffers[static_cast<size_t>(output)].dtype;
  const Region held = region({{c_.vars}, {}, true}, place, dtype);
  if (is_refused(c_.buffers[static_cast<size_t>(output)], nest_.written_)) return {};
  keep_shape(scratch, held);
  const Dim at = offset_in(held, c_.vars);
  const auto for_each_result = [&](const std::function<Store(const Place&, const DimMap&)>& statement) {
    moves_results_ = true;
    Block block = loops(results_inside(), 0, place,
                        [&](const Place& p) { return Block{make(statement(p, indices(p)))}; });
    moves_results_ = false;
    return block;
  };
  Block body;
  if (in_memory)
    append(body, for_each_result([&](const Place& p, const DimMap& map) {
             return Store{.buffer = scratch,
                          .offset = here(at, map, p.facts),
                          .value = constant(reduce_identity(c_.reductions[0].kind, dtype))};
           }));
  Place inner = place;
  inner.scratch.insert_or_assign(output, InScratch{scratch, held, nullptr});
  append(body, inside(inner));
  ValuePtr kept = load_of(scratch, dtype, at);
  const ValuePtr result =
      !in_memory ? kept : replace<LocalValue>(c_.value, [&](const LocalValue&) { return kept; });
  append(body, for_each_result([&](const Place& p, const DimMap& map) {
           return Store{.buffer = output,
                        .offset = here(c_.store_offset, map, p.facts),
                        .value = value(result, map, p)};
         }));
  return body;
}

/// The terms of a reduction's innermost loops, whose accumulators are loaded from scratch memory and stored
/// back.
Block NestWriter::memory_terms(const Place& place) {
  const Reduction& r = c_.reductions[0];
  const InScratch& scratch = place.scratch.at(output_of(c_.buffers));
  const Dim at = offset_in(scratch.region, c_.vars);
  const ValuePtr kept = load_of(scratch.buffer, r.accumulator, at);
  Block body;
  if (parts_.tile.empty()) {
    body.push_back(declare(r.local, r.accumulator, value(kept, indices(place), place)));
  } else {
    declare_tile(r, place, body);
    append(body, loops(parts_.tile, 0, place, [&](const Place& p) {
             return Block{make(
                 Assign{.local = r.local, .indices = tile_indices(p), .value = value(kept, indices(p), p)})};
           }));
  }
  append(body, terms(0, place));
  append(body, loops(parts_.tile, 0, place, [&](const Place& p) {
           const DimMap map = indices(p);
           return Block{make(Store{.buffer = scratch.buffer,
                                   .offset = here(at, map, p.facts),
                                   .value = value(value_of(r.local, r.accumulator), map, p)})};
         }));
  return body;
}

}  // namespace quern::loops
