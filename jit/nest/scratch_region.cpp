// The part of a tensor that loops read, and its layout in a scratch buffer.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/base/result.h"
#include "jit/nest/writer.h"

namespace quern::loops {

void NestWriter::refuse(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
}

/// Whether the last region was invalid, and reports why.
bool NestWriter::is_refused(const Buffer& buffer, LoopId loop) {
  if (failure_.empty()) return false;
  failure_ = fmt::format("`{}` cannot be in scratch memory inside of `{}`: {}", buffer.name, nest_.name(loop),
                         failure_);
  return true;
}

// --- the loops inside a place ---

/// Whether it runs from start to end inside the place.
bool NestWriter::is_spanned_whole(LoopId loop, const Place& place) const {
  if (place.index.contains(loop)) return false;
  if (std::count(nest_.order_.begin(), nest_.order_.end(), loop) != 0) return true;
  for (size_t s = 0; s < nest_.splits_.size(); ++s) {
    const Nest::Split& split = nest_.splits_[s];
    if (split.loop == loop)
      return !place.steps.contains(static_cast<int>(s)) ||
             (is_spanned_whole(split.outer, place) && is_spanned_whole(split.inner, place));
  }
  return std::any_of(nest_.fuses_.begin(), nest_.fuses_.end(), [&](const Nest::Fuse& fuse) {
    return (fuse.outer == loop || fuse.inner == loop) && is_spanned_whole(fuse.fused, place);
  });
}

/// Whether it, or a loop made from it, runs in lanes.
bool NestWriter::has_lanes(LoopId loop) const {
  if (loop_at(loop).kind == LoopKind::Vectorize) return true;
  return std::any_of(nest_.splits_.begin(), nest_.splits_.end(),
                     [&](const Nest::Split& s) { return s.loop == loop && has_lanes(s.inner); }) ||
         std::any_of(nest_.fuses_.begin(), nest_.fuses_.end(),
                     [&](const Nest::Fuse& f) { return f.inner == loop && has_lanes(f.fused); });
}

Dim NestWriter::add_to_span(LoopId loop, const Place& place, Span& span) const {
  const auto [found, is_new] = span.index.try_emplace(loop, nullptr);
  if (!is_new) return found->second;
  const std::string& name = nest_.name(loop);
  const Dim extent = extent_of(loop, place);
  const auto known = as_const(extent);
  found->second = dim_var(name);
  span.variables.push_back(
      {found->second, extent, known ? known : nest_.most_steps(loop), name, has_lanes(loop)});
  return found->second;
}

/// The loop's index as a function of the loops inside the place.
Dim NestWriter::spanned(LoopId loop, const Place& place, Span& span) const {
  if (const auto known = place.index.find(loop); known != place.index.end()) return known->second;
  if (is_spanned_whole(loop, place)) return add_to_span(loop, place, span);
  for (size_t s = 0; s < nest_.splits_.size(); ++s) {
    const Nest::Split& split = nest_.splits_[s];
    if (split.loop != loop) continue;
    const Steps& steps = place.steps.at(static_cast<int>(s));
    const Dim start = dim_add(dim_mul(spanned(split.outer, place, span), steps.factor), steps.start);
    return dim_add(start, spanned(split.inner, place, span));
  }
  const auto fuse = std::find_if(nest_.fuses_.begin(), nest_.fuses_.end(),
                                 [&](const Nest::Fuse& f) { return f.outer == loop || f.inner == loop; });
  QUERN_CHECK(fuse != nest_.fuses_.end());
  const Dim fused = spanned(fuse->fused, place, span), extent = loop_at(fuse->inner).extent;
  return fuse->outer == loop ? dim_floordiv(fused, extent) : dim_floormod(fused, extent);
}

// --- regions ---

/// Adds the range of read indices inside the place along one axis, from least to greatest.
void NestWriter::add_axis(const std::vector<Dim>& indices, const Span& span, const Place& place,
                          Region& region, bool& in_lanes) {
  Facts facts = place.facts;
  for (const Span::Variable& v : span.variables) facts.add_index(v.symbol, v.extent);
  Dim first = nullptr, last = nullptr;
  int64_t most = 0, step = 0, lowest = 0;
  for (Dim rest : indices) {
    Dim reach = dim_const(0);
    int64_t farthest = 0;
    for (const Span::Variable& v : span.variables) {
      if (!contains_var(rest, v.symbol)) continue;
      if (!linear_in(rest, v.symbol)) rest = simplify(rest, facts);
      const auto linear = linear_in(rest, v.symbol);
      const auto factor = linear ? as_const(linear->coefficient) : std::nullopt;
      if (!factor) return refuse(fmt::format("how far a step of `{}` moves is not known", v.name));
      if (!v.most) return refuse(fmt::format("how far `{}` runs is not known", v.name));
      const Dim end = dim_sub(v.extent, dim_const(1)), moved = dim_mul(linear->coefficient, end);
      rest = *factor < 0 ? dim_add(linear->rest, moved) : linear->rest;
      reach = *factor < 0 ? dim_sub(reach, moved) : dim_add(reach, moved);
      farthest += std::abs(*factor) * std::max<int64_t>(0, *v.most - 1);
      step = std::gcd(step, *factor);
      in_lanes |= v.in_lanes && std::abs(*factor) == 1;
    }
    if (!first) first = rest;
    const auto apart = as_const(simplify(dim_sub(rest, first), facts));
    if (!apart) return refuse("its reads are not a fixed distance apart");
    lowest = std::min(lowest, *apart);
    const Dim end = dim_add(reach, dim_const(*apart));
    last = last ? dim_max(last, end) : end;
    most = std::max(most, farthest + *apart);
    step = std::gcd(step, *apart);
  }
  step = std::max<int64_t>(step, 1);
  const Dim count = dim_floordiv(dim_sub(last, dim_const(lowest)), dim_const(step));
  region.base.push_back(dim_add(first, dim_const(lowest)));
  // A non-constant count is the remainder of a split, whose loop exists only if it has a step.
  const auto known = as_const(count);
  region.extent.push_back(known ? dim_const(std::max<int64_t>(*known, 0) + 1)
                                : simplify(dim_add(count, dim_const(1)), facts));
  region.most.push_back((most - lowest) / step + 1);
  region.step.push_back(step);
}

/// The region that these reads need inside the place, including reductions without loops in the nest.
NestWriter::Region NestWriter::region(const Reads& reads, const Place& place, DType dtype) {
  Span span;
  DimMap inside;
  for (const Nest::Loop& l : nest_.table_)
    if (l.extent) inside.emplace(l.symbol, spanned(nest_.id_of(l), place, span));
  for (const auto& [var, extent] : reads.inner)
    span.variables.push_back(
        {var, quern::substitute(extent, inside), as_const(extent), std::string(var->name), false});
  Region region;
  const size_t axes = reads.indices.front().size();
  size_t along = axes;
  for (size_t a = 0; a < axes && failure_.empty(); ++a) {
    std::vector<Dim> indices;
    indices.reserve(reads.indices.size());
    for (const std::vector<Dim>& read : reads.indices) indices.push_back(quern::substitute(read[a], inside));
    bool in_lanes = false;
    add_axis(indices, span, place, region, in_lanes);
    if (in_lanes) along = a;
  }
  if (!failure_.empty()) return {};
  region.order.resize(axes);
  std::iota(region.order.begin(), region.order.end(), size_t{0});
  if (along < axes) {
    region.order.erase(region.order.begin() + static_cast<ptrdiff_t>(along));
    region.order.push_back(along);
  }
  int64_t bytes = static_cast<int64_t>(dtype.bytes());
  for (const int64_t extent : region.most) bytes = std::min(kMostScratch + 1, bytes * extent);
  if (bytes > kMostScratch) refuse("that would take more than 1 MiB");
  return region;
}

/// Strides in elements.
std::vector<int64_t> NestWriter::strides_of(const Region& region) {
  std::vector<int64_t> strides(region.order.size());
  int64_t stride = 1;
  for (size_t k = region.order.size(); k-- > 0;) {
    strides[region.order[k]] = stride;
    stride *= region.most[region.order[k]];
  }
  return strides;
}

Dim NestWriter::offset_in(const Region& region, const std::vector<Dim>& indices) {
  const std::vector<int64_t> strides = strides_of(region);
  Dim offset = dim_const(0);
  for (size_t a = 0; a < indices.size(); ++a) {
    const Dim place = dim_floordiv(dim_sub(indices[a], region.base[a]), dim_const(region.step[a]));
    if (region.most[a] > 1) offset = dim_add(offset, dim_mul(place, dim_const(strides[a])));
  }
  return offset;
}

/// Makes room in the scratch buffer for its largest region.
void NestWriter::keep_shape(int scratch, const Region& region) {
  std::vector<int64_t>& shape = shapes_[scratch];
  shape.resize(region.order.size(), 1);
  for (size_t k = 0; k < shape.size(); ++k) shape[k] = std::max(shape[k], region.most[region.order[k]]);
}

}  // namespace quern::loops
