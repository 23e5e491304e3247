// The `prefetch` of a nest: lines of a tensor that a reduction brings near for what follows it.

#include <fmt/format.h>

#include <algorithm>

#include "jit/nest/writer.h"

namespace quern::loops {

template <>
Result<Done> Nest::change<Primitive::Prefetch>(const LoopStep& step) {
  const std::string& tensor = step.words[0];
  const LoopId loop = step.loops[0][0];
  const auto buffer =
      std::ranges::find_if(c_.buffers, [&](const Buffer& b) { return b.name == tensor && !b.is_scratch; });
  if (buffer == c_.buffers.end()) return Failure{fmt::format("there is no buffer `{}`", tensor)};
  const int index = static_cast<int>(buffer - c_.buffers.begin());
  if (at(loop).owner == kResult) return Failure{fmt::format("`{}` is not of a reduction", name(loop))};
  for (const Prefetched& other : prefetched_)
    if (other.buffer == index) return Failure{fmt::format("`{}` is prefetched already", tensor)};
  if (!buffer->is_output)
    if (auto known = reads_are_known(index); !known) return known;
  prefetched_.push_back({index, loop});
  return Done{};
}

/// Runs of contiguous lines: `first`, and for each of `outer`, outermost first, as many runs `stride` elements apart.
struct NestWriter::Lines {
  struct Axis {
    int64_t count;
    Dim stride;
  };
  Dim first = nullptr;
  std::vector<Axis> outer{};
  int64_t per_run = 1, elements = 1;  ///< lines of a run; elements of a line

  int64_t count() const {
    int64_t all = per_run;
    for (const Axis& axis : outer) all *= axis.count;
    return all;
  }
  Dim offset(Dim line) const {
    Dim run = dim_floordiv(line, dim_const(per_run));
    Dim at = dim_add(first, dim_mul(dim_floormod(line, dim_const(per_run)), dim_const(elements)));
    for (size_t k = outer.size(); k-- > 0;) {
      const Dim count = dim_const(outer[k].count);
      at = dim_add(at, dim_mul(k == 0 ? run : dim_floormod(run, count), outer[k].stride));
      run = dim_floordiv(run, count);
    }
    return at;
  }
};

/// Lines that follow a number of steps, of which the present one is the `number`th.
struct NestWriter::Ahead {
  Lines lines{};
  Dim number, steps;
};

NestWriter::Lines NestWriter::lines_of(const Buffer& buffer, const Region& region) const {
  constexpr int64_t kLine = 64;
  Lines lines{.first = dim_const(0)};
  lines.elements = std::max<int64_t>(1, kLine / static_cast<int64_t>(buffer.dtype.bytes()));
  int64_t run = 1;
  bool is_run = true;  // the axes so far are one run
  Dim stride = dim_const(1);
  for (size_t a = buffer.shape.size(); a-- > 0;) {
    const int64_t reach = (region.most[a] - 1) * region.step[a] + 1;
    lines.first = dim_add(lines.first, dim_mul(region.base[a], stride));
    if (is_run)
      run *= reach;
    else if (region.most[a] > 1)
      lines.outer.insert(lines.outer.begin(), {region.most[a], dim_mul(stride, dim_const(region.step[a]))});
    is_run = is_run && is_const(buffer.shape[a], reach);
    stride = dim_mul(stride, buffer.shape[a]);
  }
  lines.per_run = (run + lines.elements - 1) / lines.elements;
  return lines;
}

/// The tensor's part that loops read, or write, at a place; nothing if its size is not known.
std::optional<NestWriter::Region> NestWriter::known_region(const Reads& reads, const Place& place,
                                                           DType dtype) {
  if (!failure_.empty()) return std::nullopt;
  Region found = region(reads, place, dtype);
  if (failure_.empty()) return found;
  failure_.clear();
  return std::nullopt;
}

/// What is read of the buffer, or written to it, once the steps of the loop at `place` are over.
std::optional<NestWriter::Ahead> NestWriter::ahead(const Nest::Prefetched& prefetched, const Place& place) {
  const Buffer& buffer = c_.buffers[static_cast<size_t>(prefetched.buffer)];
  Reads reads;
  const auto add = [&](const LoadValue& load) {
    if (load.buffer == prefetched.buffer) reads.indices.push_back(load.indices);
  };
  for_each<LoadValue>(c_.reductions[static_cast<size_t>(loop_at(prefetched.loop).owner)].value, add);
  const bool is_next = !reads.indices.empty();
  for_each<LoadValue>(c_.value, add);
  if (buffer.is_output) reads.indices.push_back(c_.vars);
  if (reads.indices.empty() || reads.indices.front().size() != buffer.shape.size()) return std::nullopt;
  Ahead found{.number = dim_const(0), .steps = dim_const(1)};
  const auto count = [&](LoopId loop) {
    found.number = dim_add(found.number, dim_mul(place.index.at(loop), found.steps));
    found.steps = dim_mul(found.steps, extent_of(loop, place));
  };
  Place around = place;
  LoopIds inside = parts_.reduced;
  const auto last = std::ranges::find(inside, prefetched.loop);
  for (auto loop = std::make_reverse_iterator(last + 1); loop != inside.rend(); ++loop) count(*loop);
  for (const LoopId loop : inside) around.index.erase(loop);
  if (!is_next) {
    const auto region = known_region(reads, around, buffer.dtype);
    if (region) found.lines = lines_of(buffer, *region);
    return region ? std::optional(found) : std::nullopt;
  }
  LoopIds outside = parts_.outer;
  outside.insert(outside.end(), parts_.memory.begin(), parts_.memory.end());
  for (auto loop = outside.rbegin(); loop != outside.rend(); ++loop) {
    const Dim index = around.index.at(*loop);
    Place next = around;
    next.index[*loop] = dim_add(index, dim_const(1));
    const auto region = known_region(reads, around, buffer.dtype),
               later = known_region(reads, next, buffer.dtype);
    if (!region || !later) return std::nullopt;
    if (index->kind == DimKind::Var && region->base != later->base) {
      found.lines = lines_of(buffer, *later);
      return found;
    }
    // The rest of a split has few steps, after those that did it.
    const int split = loop_at(*loop).made_by;
    if (split >= 0 && !is_const(place.steps.at(split).start, 0)) return std::nullopt;
    count(*loop);
    around.index.erase(*loop);
  }
  return std::nullopt;
}

/// The statements at the start of a step of the loop.
Block NestWriter::prefetches(LoopId loop, const Place& place) {
  constexpr int64_t kMostAtOnce = 4;
  Block body;
  for (const Nest::Prefetched& prefetched : nest_.prefetched_) {
    if (prefetched.loop != loop) continue;
    const auto ahead = this->ahead(prefetched, place);
    const auto steps = ahead ? as_const(ahead->steps) : std::nullopt;
    if (steps.value_or(0) < 1) continue;
    const int64_t count = ahead->lines.count(), apart = std::max<int64_t>(1, *steps / count);
    const int64_t at_once = (count + *steps - 1) / *steps;
    if (at_once > kMostAtOnce) continue;
    for (int64_t k = 0; k < at_once; ++k) {
      const Dim first = dim_mul(dim_floordiv(ahead->number, dim_const(apart)), dim_const(at_once));
      const Dim line = simplify(dim_add(first, dim_const(k)), place.facts);
      StmtPtr fetch = make(
          Prefetch{.buffer = prefetched.buffer, .offset = simplify(ahead->lines.offset(line), place.facts)});
      const bool is_always = prove_less(line, dim_const(count), place.facts);
      body.push_back(is_always ? fetch : only_if({{line, nullptr, dim_const(count)}}, {fetch}));
    }
  }
  return body;
}

}  // namespace quern::loops
