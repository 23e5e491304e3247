// Completeness: which loops code can be generated for, and the facts this needs.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "jit/nest/writer.h"

namespace quern::loops {

// --- extents ---------------------------------------------------------------------------------------

/// The loop's number of steps, if known and uniform.
std::optional<int64_t> Nest::known_extent(LoopId loop) const {
  const Loop& l = at(loop);
  if (l.made_by < 0) return as_const(l.extent);
  const Split& split = split_of(loop);
  const auto count = even_count(split);
  return count && split.inner == loop ? split.factor : count;
}

/// The number of steps of the outer part, if they are all equal.
std::optional<int64_t> Nest::even_count(const Split& split) const {
  const auto extent = known_extent(split.loop);
  if (!extent || *extent < 1 || *extent % split.factor != 0) return std::nullopt;
  return at(split.outer).peeled ? std::nullopt : std::optional(*extent / split.factor);
}

/// The maximal number of steps of the loop.
std::optional<int64_t> Nest::most_steps(LoopId loop) const {
  const Loop& l = at(loop);
  if (l.made_by < 0) return as_const(l.extent);
  const Split& split = split_of(loop);
  const auto all = most_steps(split.loop);
  if (split.inner == loop) return std::min(split.factor, all.value_or(split.factor));
  if (!all) return std::nullopt;
  return (*all + split.factor - 1) / split.factor;
}

// --- parts -----------------------------------------------------------------------------------------

Nest::Parts Nest::parts() const {
  const auto is_reduced = [&](LoopId loop) { return at(loop).owner != kResult; };
  const auto begin = order_.begin(), end = order_.end();
  const auto first = std::find_if(begin, end, is_reduced);
  Parts parts;
  parts.outer.assign(begin, first);
  const auto written = std::find(begin, first, written_);
  auto tile = std::find_if(order_.rbegin(), order_.rend(), is_reduced).base();
  if (first == end) tile = end;
  if (written != first) {
    if (!tile_is_complete({tile, end})) tile = end;
    auto reduced = tile;
    while (reduced != first && is_reduced(*(reduced - 1))) --reduced;
    if (reduced != first) {
      parts.outer.assign(begin, written + 1);
      parts.memory.assign(written + 1, reduced);
      parts.reduced.assign(reduced, tile);
      parts.tile.assign(tile, end);
      return parts;
    }
  }
  for (auto loop = first; loop != end; ++loop)
    (is_reduced(*loop) ? parts.reduced : parts.tile).push_back(*loop);
  return parts;
}

Result<Done> Nest::tile_is_complete(const LoopIds& tile) const {
  constexpr int64_t kMostVectors = 64;
  int64_t vectors = 1;
  for (const LoopId loop : tile) {
    const Loop& l = at(loop);
    std::optional<int64_t> most = l.extent ? as_const(l.extent) : std::nullopt;
    if (outer_of(loop) != kNoLoop) most = split_of(loop).factor;
    const bool lanes = l.kind == LoopKind::Vectorize;
    if (lanes && loop != tile.back())
      return Failure{fmt::format("`{}` is not the last loop of its tile", name(l))};
    if (l.made_by >= 0 && outer_of(loop) == kNoLoop) {
      most = known_extent(loop);
      if (!most) return Failure{fmt::format("`{}` counts the steps of a split, and is in a tile", name(l))};
    }
    if (!most) return Failure{fmt::format("how far `{}` runs in a tile is not known", name(l))};
    if (l.kind == LoopKind::Unroll && l.width != 0)
      return Failure{fmt::format("`{}` is in a tile and not unrolled as a whole", name(l))};
    vectors *= std::min(lanes ? (*most + l.width - 1) / l.width : *most, kMostVectors + 1);
  }
  if (vectors > kMostVectors) return Failure{fmt::format("a tile of more than {} vectors", kMostVectors)};
  return Done{};
}

Result<Done> Nest::lanes_are_complete(const Parts& parts) const {
  const LoopIds& tile = parts.tile;
  const Loop* of_result = nullptr;
  for (const LoopId loop : order_) {
    const Loop& l = at(loop);
    if (l.kind != LoopKind::Vectorize) continue;
    const bool is_reduced = l.owner != kResult;
    const bool in_memory = std::count(parts.memory.begin(), parts.memory.end(), loop) != 0;
    if (is_reduced && (!tile.empty() || in_memory))
      return Failure{fmt::format("`{}` cannot run in lanes: what it reduces to is not one number", name(l))};
    const bool second = std::any_of(order_.begin(), order_.end(), [&](LoopId other) {
      const Loop& o = at(other);
      return &o != &l && o.kind == LoopKind::Vectorize && o.owner == l.owner;
    });
    if (second || (of_result && is_reduced))
      return Failure{fmt::format("`{}` is the second loop in lanes", name(l))};
    if (!is_reduced) of_result = &l;
    if (!is_reduced && !tile.empty() && std::count(tile.begin(), tile.end(), loop) == 0)
      return Failure{fmt::format("`{}` runs in lanes around a tile", name(l))};
    if (l.made_by >= 0 && split_of(loop).outer == loop)
      return Failure{
          fmt::format("`{}` runs in lanes, and how far its inner part runs depends on it", name(l))};
    const auto bounded = [&](Dim extent) { return contains_var(extent, l.symbol); };
    for (const Reduction& r : c_.reductions)
      if (std::any_of(r.extents.begin(), r.extents.end(), bounded))
        return Failure{fmt::format("`{}` runs in lanes, and a reduction's extent depends on it", name(l))};
  }
  return Done{};
}

Result<Done> Nest::turned_write_is_complete(const Parts& parts) const {
  if (turned_write_ == kNoLoop) return Done{};
  const Loop& along = at(turned_write_);
  const Loop& lanes = at(turned_lanes_);
  const auto in_tile = [&](LoopId loop) {
    return std::count(parts.tile.begin(), parts.tile.end(), loop) != 0;
  };
  if (c_.reductions.size() != 1 || !in_tile(turned_write_))
    return Failure{fmt::format("results are stored along `{}`, which is no loop of a tile", name(along))};
  if (parts.tile.back() != turned_lanes_ || lanes.kind != LoopKind::Vectorize)
    return Failure{
        fmt::format("results are turned from the lanes of `{}`, which is not the tile's last loop "
                    "and in lanes",
                    name(lanes))};
  if (lanes.width < 2 || lanes.width > 16 || (lanes.width & (lanes.width - 1)) != 0)
    return Failure{fmt::format("results are turned from 2, 4, 8 or 16 lanes, and not from the {} of `{}`",
                               lanes.width, name(lanes))};
  return Done{};
}

Result<Done> Nest::bound_are_complete(const Parts& parts) const {
  for (const Loop& l : table_) {
    const LoopId loop = id_of(l);
    if (l.bound == GridIndex::None) continue;
    if (!is_there(loop))
      return Failure{fmt::format("`{}` is {}, and split or fused", name(l), to_string(l.bound))};
    if (l.kind != LoopKind::Serial || loop == parallel_)
      return Failure{fmt::format("the steps of `{}` are to be done by {}, and not in another way", name(l),
                                 to_string(l.bound))};
    if (std::count(parts.outer.begin(), parts.outer.end(), loop) == 0)
      return Failure{
          fmt::format("`{}` is {}, inside of a loop of the reduction", name(l), to_string(l.bound))};
  }
  return Done{};
}

/// Checks the loop in whose steps scratch memory for `buffer` is filled or emptied.
Result<Done> Nest::scratch_stands_well(LoopId loop, const std::string& buffer, const Parts& parts) const {
  const auto place = std::find(order_.begin(), order_.end(), loop);
  if (place == order_.end())
    return Failure{
        fmt::format("`{}` is in scratch memory inside of `{}`, which is split or fused", buffer, name(loop))};
  if (std::count(parts.tile.begin(), parts.tile.end(), loop) != 0)
    return Failure{
        fmt::format("`{}` is in scratch memory inside of `{}`, which is in a tile", buffer, name(loop))};
  const auto lanes =
      std::find_if(order_.begin(), place + 1, [&](LoopId l) { return at(l).kind == LoopKind::Vectorize; });
  if (lanes != place + 1)
    return Failure{
        fmt::format("`{}` is in scratch memory inside of `{}`, which runs in lanes", buffer, name(*lanes))};
  if (parallel_ != kNoLoop && std::find(order_.begin(), place + 1, parallel_) == place + 1)
    return Failure{
        fmt::format("every thread would fill the scratch memory of `{}`: `{}` runs around `{}`, whose "
                    "steps they share",
                    buffer, name(loop), name(parallel_))};
  return Done{};
}

Result<Done> Nest::scratch_is_complete(const Parts& parts) const {
  if (fills_.empty() && written_ == kNoLoop) return Done{};
  if (turned_ >= 0 || (turned_write_ != kNoLoop && written_ != kNoLoop))
    return Failure{"what is turned in registers is not in scratch memory"};
  for (const Fill& fill : fills_) {
    const std::string& buffer = c_.buffers[static_cast<size_t>(fill.buffer)].name;
    if (fill.loop == kBeforeAll && parallel_ != kNoLoop)
      return Failure{
          fmt::format("every thread would compute `{}`: it can be computed at a loop, or inline", buffer)};
    if (fill.loop == kBeforeAll) continue;
    if (std::ranges::any_of(order_, [&](LoopId loop) { return at(loop).dot != nullptr; }))
      return Failure{fmt::format(
          "an intrinsic reads groups of `{}`, which do not lie together in scratch memory", buffer)};
    if (auto done = scratch_stands_well(fill.loop, buffer, parts); !done) return done;
  }
  if (written_ != kNoLoop) {
    const std::string& output = c_.buffers[static_cast<size_t>(output_of(c_.buffers))].name;
    if (auto done = scratch_stands_well(written_, output, parts); !done) return done;
    if (std::find(parts.outer.begin(), parts.outer.end(), written_) == parts.outer.end())
      return Failure{fmt::format("`{}` is inside of a loop of the reduction", name(written_))};
  }
  NestWriter writer(*this);
  writer.write();
  if (!writer.failure().empty()) return Failure{writer.failure()};
  return Done{};
}

Result<Done> Nest::is_complete() const {
  const Parts parts = this->parts();
  if (parallel_ != kNoLoop) {
    const Loop& l = at(parallel_);
    if (std::count(parts.outer.begin(), parts.outer.end(), parallel_) == 0 || l.kind != LoopKind::Serial)
      return Failure{fmt::format("the steps of `{}` are no code that runs by itself", name(l))};
  }
  if (auto done = tile_is_complete(parts.tile); !done) return done;
  for (const LoopId loop : order_)
    if (at(loop).dot)
      if (auto done = dot_is_complete(loop, parts); !done) return done;
  if (auto done = lanes_are_complete(parts); !done) return done;
  if (auto done = turned_write_is_complete(parts); !done) return done;
  if (auto done = bound_are_complete(parts); !done) return done;
  for (const Prefetched& prefetched : prefetched_)
    if (std::ranges::find(parts.reduced, prefetched.loop) == parts.reduced.end())
      return Failure{
          fmt::format("`{}` is not around a tile, or an element, of the reduction", name(prefetched.loop))};
  return scratch_is_complete(parts);
}

}  // namespace quern::loops
