#include "jit/nest/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace quern::loops {

std::optional<int64_t> known_stride(Dim offset, Dim var) {
  const auto linear = linear_in(offset, var);
  const auto stride = linear ? as_const(linear->coefficient) : std::nullopt;
  return stride ? std::optional(std::abs(*stride)) : std::nullopt;
}

Nest::Nest(Computation computation, std::vector<PackedBuffer> forms, DotIntrinsics dots)
    : Nest(StagedComputation{std::move(computation), {}}, std::move(dots)) {
  packed_ = std::move(forms);
}

Nest::Nest(StagedComputation computation, DotIntrinsics dots)
    : c_(std::move(computation.result)), names_(c_), dots_(std::move(dots)) {
  for (Stage& stage : computation.stages)
    fills_.push_back({stage.buffer, stage.buffer, kBeforeAll, std::move(stage.value)});
  const auto add_roots = [&](const std::vector<Dim>& vars, const std::vector<Dim>& extents, int owner) {
    for (size_t k = 0; k < vars.size(); ++k) {
      table_.push_back({.owner = owner, .symbol = vars[k], .extent = extents[k]});
      order_.push_back(id_of(table_.back()));
    }
  };
  add_roots(c_.vars, c_.extents, kResult);
  for (size_t r = 0; r < c_.reductions.size(); ++r)
    add_roots(c_.reductions[r].vars, c_.reductions[r].extents, static_cast<int>(r));
}

/// Adds one of the loops that a step makes.
LoopId Nest::add_loop(const LoopStep& step, size_t made, Loop loop) {
  loop.symbol = dim_var(step.makes[made]);
  table_.push_back(std::move(loop));
  return id_of(table_.back());
}

LoopId Nest::loop_of(Dim root) const {
  const auto found = std::ranges::find(table_, root, &Loop::symbol);
  QUERN_CHECK(found != table_.end());
  return id_of(*found);
}

LoopIds Nest::loops_of(const std::vector<Dim>& roots) const {
  LoopIds loops;
  for (const Dim root : roots) loops.push_back(loop_of(root));
  return loops;
}

bool Nest::is_there(LoopId loop) const { return std::ranges::find(order_, loop) != order_.end(); }

/// The position of an existing loop in the loop order.
size_t Nest::place_of(LoopId loop) const {
  const auto found = std::ranges::find(order_, loop);
  QUERN_CHECK(found != order_.end());
  return static_cast<size_t>(found - order_.begin());
}

/// The outer part of the split whose inner part is this loop; kNoLoop for any other.
LoopId Nest::outer_of(LoopId loop) const {
  if (at(loop).made_by < 0) return kNoLoop;
  const Split& split = split_of(loop);
  return split.inner == loop ? split.outer : kNoLoop;
}

void Nest::roots_of(LoopId loop, LoopIds& roots) const {
  for (const Fuse& fuse : fuses_) {
    if (fuse.fused != loop) continue;
    roots_of(fuse.outer, roots);
    roots_of(fuse.inner, roots);
    return;
  }
  roots.push_back(loop);
}

/// The computation's index variables that a loop covers at least partly.
std::vector<Dim> Nest::root_symbols(LoopId loop) const {
  LoopIds roots{loop};
  std::vector<Dim> symbols;
  while (!roots.empty()) {
    const LoopId part = roots.back();
    LoopIds of;
    roots_of(at(part).made_by >= 0 ? split_of(part).loop : part, of);
    roots.pop_back();
    for (const LoopId root : of) {
      const Loop& l = at(root);
      if (l.made_by >= 0)
        roots.push_back(root);
      else
        symbols.push_back(l.symbol);
    }
  }
  return symbols;
}

// --- primitives --------------------------------------------------------------------------------------

Result<Done> Nest::apply(const Schedule& schedule) {
  for (const ScheduleStep& step : schedule.steps) {
    auto read = names_.read(step);
    auto made = read ? apply(*read) : read.error();
    if (!made) return Failure{to_string(step) + ": " + made.error().message};
  }
  return Done{};
}

Result<LoopIds> Nest::apply(const LoopStep& given) {
  const LoopStep step = names_.named(given);
  QUERN_CHECK(is_well_formed(names_.written(step)));
  auto done = [&] {
    switch (step.primitive) {
#define QUERN_PRIMITIVE(name, text, makes, takes, form, does) \
  case Primitive::name:                                       \
    return change<Primitive::name>(step);
#include "ir/expr/primitives.def"
#undef QUERN_PRIMITIVE
    }
    return Result<Done>(Done{});
  }();
  if (!done) return done.error();
  applied_.push_back(step);
  return names_.add(step);
}

template <>
Result<Done> Nest::change<Primitive::Split>(const LoopStep& step) {
  const LoopId loop = step.loops[0][0];
  const size_t place = place_of(loop);
  const int made_by = at(loop).made_by;
  if (made_by >= 0 && split_of(loop).outer == loop)
    return Failure{
        fmt::format("`{}` counts the steps of a split; what can be split again is the step", name(loop))};
  const Loop part{.owner = at(loop).owner, .made_by = static_cast<int>(splits_.size())};
  const LoopId outer = add_loop(step, 0, part), inner = add_loop(step, 1, part);
  splits_.push_back({loop, outer, inner, step.numbers[0]});
  order_[place] = outer;
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(place) + 1, inner);
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Fuse>(const LoopStep& step) {
  const LoopId outer = step.loops[0][0], inner = step.loops[0][1];
  const size_t place = place_of(outer);
  const Loop &o = at(outer), &i = at(inner);
  if (place_of(inner) != place + 1 || o.owner != i.owner)
    return Failure{fmt::format("`{}` does not stand right inside of `{}`", name(inner), name(outer))};
  if (!o.extent || !i.extent) return Failure{"the parts of a split cannot be fused"};
  const LoopId fused = add_loop(step, 0, {.owner = o.owner, .extent = dim_mul(o.extent, i.extent)});
  fuses_.push_back({outer, inner, fused});
  order_[place] = fused;
  order_.erase(order_.begin() + static_cast<ptrdiff_t>(place) + 1);
  return Done{};
}

/// Checks that the inner part of a split is inside the outer part, unless all its steps are equal.
Result<Done> Nest::parts_follow(const LoopIds& order) const {
  for (auto place = order.begin(); place != order.end(); ++place)
    for (LoopId loop = *place; at(loop).made_by >= 0;) {
      const LoopId outer = outer_of(loop);
      const Split& split = split_of(loop);
      if (outer != kNoLoop && !even_count(split) && std::find(place, order.end(), outer) != order.end())
        return Failure{
            fmt::format("`{}` runs inside of `{}`: how far depends on it", name(*place), name(outer))};
      loop = split.loop;
    }
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Reorder>(const LoopStep& step) {
  return put_in_order(step.loops[0]);
}

/// Reorders loops within the positions that they occupy.
Result<Done> Nest::put_in_order(const LoopIds& loops) {
  std::vector<size_t> places;
  for (const LoopId loop : loops) {
    const size_t place = place_of(loop);
    if (std::count(places.begin(), places.end(), place) != 0)
      return Failure{fmt::format("`{}` stands there twice", name(loop))};
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  LoopIds order = order_;
  for (size_t k = 0; k < places.size(); ++k) order[places[k]] = loops[k];
  if (auto stands = parts_follow(order); !stands) return stands;
  const auto is_reduced = [&](LoopId loop) { return at(loop).owner != kResult; };
  const auto first = std::find_if(order.begin(), order.end(), is_reduced);
  const auto tile = std::find_if(first, order.end(), [&](LoopId loop) { return !is_reduced(loop); });
  if (tile != order.end()) {
    if (written_ == kNoLoop && std::any_of(tile, order.end(), is_reduced))
      return Failure{
          "the loops of a tile are inside of all loops of the reduction, where there is no `cache_write`"};
    const bool simple = c_.reductions.size() == 1 && !c_.reductions[0].is_let &&
                        c_.reductions[0].inner.empty() && !is_arg(c_.reductions[0].kind);
    if (!simple) return Failure{"a tile is of one reduction, and of nothing else"};
  }
  order_ = std::move(order);
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Unroll>(const LoopStep& step) {
  return mark(step.loops[0][0], LoopKind::Unroll, step);
}
template <>
Result<Done> Nest::change<Primitive::Vectorize>(const LoopStep& step) {
  return mark(step.loops[0][0], LoopKind::Vectorize, step);
}

Result<Done> Nest::mark(LoopId loop, LoopKind kind, const LoopStep& step) {
  if (!step.numbers.empty() && (step.numbers[0] < 1 || step.numbers[0] > 64))
    return Failure{"the number is to be from 1 to 64"};
  at(loop).kind = kind;
  at(loop).width = step.numbers.empty() ? 0 : step.numbers[0].value;
  return Done{};
}

/// Whether its extent is the same at every place.
bool Nest::is_whole(LoopId loop) const {
  const Loop& l = at(loop);
  if (l.made_by < 0 || outer_of(loop) != kNoLoop) return l.extent != nullptr;
  return at(split_of(loop).loop).extent != nullptr;
}

std::optional<LoopId> Nest::shared_loop(int64_t many) const {
  constexpr int64_t kUnknown = 64;
  std::optional<LoopId> best;
  int64_t most = 1, around = 1;
  for (const LoopId loop : order_) {
    const Loop& l = at(loop);
    if (l.owner != kResult) break;
    const auto steps = most_steps(loop);
    const int64_t reached = steps.value_or(kUnknown) * (around <= kMostNumbered ? around : 1);
    if (l.kind == LoopKind::Serial && is_whole(loop) && reached > most) {
      best = loop;
      most = reached;
      if (most >= many) break;
    }
    around = steps ? around * *steps : kMostNumbered + 1;
    if (around > kMostNumbered) around = kMostNumbered + 1;
  }
  return best;
}

template <>
Result<Done> Nest::change<Primitive::Parallel>(const LoopStep& step) {
  const LoopId loop = step.loops[0][0];
  if (at(loop).owner != kResult) return Failure{fmt::format("`{}` is of a reduction", name(loop))};
  if (!is_whole(loop)) return Failure{fmt::format("how far `{}` runs depends on another loop", name(loop))};
  if (parallel_ != kNoLoop) return Failure{"there is a parallel loop already"};
  parallel_ = loop;
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Peel>(const LoopStep& step) {
  const LoopId id = step.loops[0][0];
  Loop& loop = at(id);
  if (loop.made_by < 0 || split_of(id).outer != id)
    return Failure{fmt::format("`{}` is not the outer part of a split", name(id))};
  loop.peeled = true;
  auto stands = parts_follow(order_);
  loop.peeled = static_cast<bool>(stands);
  return stands;
}

/// A reordering followed by unrolling.
template <>
Result<Done> Nest::change<Primitive::Vthread>(const LoopStep& step) {
  constexpr int64_t kMostThreads = 16;
  const LoopId moved = step.loops[0][0];
  const Loop& loop = at(moved);
  if (loop.owner != kResult) return Failure{fmt::format("`{}` is of a reduction", name(moved))};
  if (most_steps(moved).value_or(kMostThreads + 1) > kMostThreads)
    return Failure{fmt::format("`{}` may have more than {} steps", name(moved), kMostThreads)};
  if (loop.kind == LoopKind::Vectorize) return Failure{fmt::format("`{}` runs in lanes", name(moved))};
  LoopIds order = order_;
  std::erase(order, moved);
  const auto is_reduced = [&](LoopId l) { return at(l).owner != kResult; };
  auto place = std::find_if(order.rbegin(), order.rend(), is_reduced).base();
  if (place == order.begin()) {
    place = order.end();
    if (!order.empty() && at(order.back()).kind == LoopKind::Vectorize) --place;
  }
  order.insert(place, moved);
  if (auto done = put_in_order(order); !done) return done;
  at(moved).kind = LoopKind::Unroll;
  at(moved).width = 0;
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Bind>(const LoopStep& step) {
  const LoopId id = step.loops[0][0];
  const std::string& wanted = step.words[0];
  const auto index = find_grid_index(wanted);
  if (!index)
    return Failure{
        fmt::format("there is no `{}`; there are blockIdx.x, .y, .z and threadIdx.x, .y, .z", wanted)};
  if (at(id).owner != kResult) return Failure{fmt::format("`{}` is of a reduction", name(id))};
  for (const LoopId other : order_)
    if (other != id && at(other).bound == *index)
      return Failure{fmt::format("{} is the index of `{}` already", to_string(*index), name(other))};
  at(id).bound = *index;
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::Turn>(const LoopStep& step) {
  const LoopId along = step.loops[1][0], across = step.loops[1][1];
  const std::string& tensor = step.words[0];
  const size_t count = order_.size();
  if (count < 2 || order_[count - 2] != along || order_[count - 1] != across)
    return Failure{"takes the two innermost loops"};
  if (!c_.reductions.empty()) return Failure{"there is a reduction"};
  const LoopId v = outer_of(along), u = outer_of(across);
  if (v == kNoLoop || u == kNoLoop || split_of(v).factor != split_of(u).factor)
    return Failure{"takes the inner parts of two splits of one width"};
  const int64_t width = split_of(v).factor;
  if (width < 2 || width > 16 || (width & (width - 1)) != 0)
    return Failure{"the width is to be 2, 4, 8 or 16"};
  auto buffer = std::find_if(c_.buffers.begin(), c_.buffers.end(),
                             [&](const Buffer& b) { return b.name == tensor && !b.is_output; });
  if (buffer == c_.buffers.end()) return Failure{fmt::format("there is no buffer `{}`", tensor)};
  const int index = static_cast<int>(buffer - c_.buffers.begin());
  int reads = 0;
  for_each<LoadValue>(c_.value, [&](const LoadValue& load) {
    if (load.buffer == index)
      reads += (load.checks.empty() || load.otherwise) && load.computed.empty() ? 1 : 2;
  });
  if (reads != 1)
    return Failure{
        fmt::format("`{}` is not read in one place, inside of its bounds or with padding", buffer->name)};
  turned_ = index;
  return Done{};
}

template <>
Result<Done> Nest::change<Primitive::TurnWrite>(const LoopStep& step) {
  const LoopId along = step.loops[0][0], lanes = step.loops[0][1];
  if (along == lanes) return Failure{"takes two loops, and not one twice"};
  turned_write_ = along;
  turned_lanes_ = lanes;
  return Done{};
}

}  // namespace quern::loops
