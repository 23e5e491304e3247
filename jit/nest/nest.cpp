#include "jit/nest/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace quern::loops {

Nest::Nest(Computation computation, std::vector<PackedBuffer> forms, DotIntrinsics dots)
    : Nest(StagedComputation{std::move(computation), {}}, std::move(dots)) {
  packed_ = std::move(forms);
}

Nest::Nest(StagedComputation computation, DotIntrinsics dots)
    : c_(std::move(computation.result)), dots_(std::move(dots)) {
  for (Stage& stage : computation.stages)
    fills_.push_back({stage.buffer, stage.buffer, kBeforeAll, std::move(stage.value)});
  for (size_t k = 0; k < c_.vars.size(); ++k) order_.push_back(add_root(c_.vars[k], c_.extents[k], kResult));
  for (size_t r = 0; r < c_.reductions.size(); ++r) {
    const Reduction& reduction = c_.reductions[r];
    for (size_t k = 0; k < reduction.vars.size(); ++k)
      order_.push_back(add_root(reduction.vars[k], reduction.extents[k], static_cast<int>(r)));
  }
}

int Nest::add_root(Dim var, Dim extent, int owner) {
  Loop loop;
  loop.owner = owner;
  loop.symbol = var;
  loop.extent = extent;
  loop.name = std::string(var->name);
  for (int copy = 2; find(loop.name); ++copy) loop.name = fmt::format("{}_{}", var->name, copy);
  return add_loop(std::move(loop));
}

int Nest::add_loop(Loop loop) {
  if (!loop.symbol) loop.symbol = dim_var(loop.name);
  table_.push_back(std::move(loop));
  return static_cast<int>(table_.size()) - 1;
}

std::vector<std::string> Nest::loops() const {
  std::vector<std::string> names;
  for (const int loop : order_) names.push_back(table_[static_cast<size_t>(loop)].name);
  return names;
}

std::string Nest::name_of(Dim root) const {
  const auto found =
      std::find_if(table_.begin(), table_.end(), [&](const Loop& l) { return l.symbol == root; });
  QUERN_CHECK(found != table_.end());
  return found->name;
}
std::string Nest::new_name(std::string name) const {
  while (find(name)) name += '_';
  return name;
}
Dim Nest::symbol_of(const std::string& name) const {
  const auto loop = find(name);
  QUERN_CHECK(loop);
  return table_[static_cast<size_t>(*loop)].symbol;
}
Dim Nest::extent_of(const std::string& name) const {
  const auto loop = find(name);
  QUERN_CHECK(loop);
  return table_[static_cast<size_t>(*loop)].extent;
}

// --- names -----------------------------------------------------------------------------------------

Result<int> Nest::find(const std::string& name) const {
  for (size_t k = 0; k < table_.size(); ++k)
    if (table_[k].name == name) return static_cast<int>(k);
  return Failure{fmt::format("there is no loop `{}`; the loops are {}", name, fmt::join(loops(), ", "))};
}

Result<std::vector<int>> Nest::find_all(const std::vector<std::string>& names) const {
  std::vector<int> found;
  for (const std::string& name : names) {
    auto loop = find(name);
    if (!loop) return loop.error();
    found.push_back(*loop);
  }
  return found;
}

Result<size_t> Nest::find_in_order(const std::string& name) const {
  auto loop = find(name);
  if (!loop) return loop.error();
  auto at = std::find(order_.begin(), order_.end(), *loop);
  if (at == order_.end())
    return Failure{
        fmt::format("`{}` is split or fused already; the loops are {}", name, fmt::join(loops(), ", "))};
  return static_cast<size_t>(at - order_.begin());
}

Result<Done> Nest::make_name(const std::string& name) const {
  if (!name.empty() && !find(name)) return Done{};
  return Failure{fmt::format("there is a loop `{}` already", name)};
}

/// The outer part of the split whose inner part the loop is; -1 for any other.
int Nest::outer_of(int loop) const {
  const int made_by = table_[static_cast<size_t>(loop)].made_by;
  if (made_by < 0) return -1;
  const Split& split = splits_[static_cast<size_t>(made_by)];
  return split.inner == loop ? split.outer : -1;
}

void Nest::roots_of(int loop, std::vector<int>& roots) const {
  for (const Fuse& fuse : fuses_) {
    if (fuse.fused != loop) continue;
    roots_of(fuse.outer, roots);
    roots_of(fuse.inner, roots);
    return;
  }
  roots.push_back(loop);
}

/// The index variables of the computation that a loop runs over, or over a part of.
std::vector<Dim> Nest::root_symbols(int loop) const {
  std::vector<int> roots{loop};
  std::vector<Dim> symbols;
  while (!roots.empty()) {
    const int made_by = table_[static_cast<size_t>(roots.back())].made_by;
    std::vector<int> of;
    roots_of(made_by >= 0 ? splits_[static_cast<size_t>(made_by)].loop : roots.back(), of);
    roots.pop_back();
    for (const int root : of) {
      const Loop& l = table_[static_cast<size_t>(root)];
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
  for (const ScheduleStep& step : schedule.steps)
    if (auto done = apply(step); !done) return Failure{to_string(step) + ": " + done.error().message};
  return Done{};
}

Result<Done> Nest::apply(const ScheduleStep& step) {
  QUERN_CHECK(is_well_formed(step));
  auto done = change(step);
  if (done) applied_.steps.push_back(step);
  return done;
}

Result<Done> Nest::change(const ScheduleStep& step) {
  switch (step.primitive) {
    case Primitive::Split: return split(step);
    case Primitive::Fuse: return fuse(step);
    case Primitive::Reorder: return reorder(step);
    case Primitive::Unroll:
    case Primitive::Vectorize: return mark(step);
    case Primitive::Parallel: return parallel(step);
    case Primitive::Peel: return peel(step);
    case Primitive::Turn: return turn(step);
    case Primitive::TurnWrite: return turn_write(step);
    case Primitive::Pack: return pack(step);
    case Primitive::CacheRead: return cache_read(step);
    case Primitive::CacheWrite: return cache_write(step);
    case Primitive::ComputeAt: return compute_at(step);
    case Primitive::Inline: return inline_stage(step);
    case Primitive::Vthread: return vthread(step);
    case Primitive::Bind: return bind(step);
    case Primitive::Tensorize: return tensorize(step);
  }
  return Done{};
}

Result<Done> Nest::split(const ScheduleStep& step) {
  auto at = find_in_order(step.loops[0][0]);
  if (!at) return at.error();
  for (const std::string& name : step.makes)
    if (auto made = make_name(name); !made) return made;
  const int loop = order_[*at];
  const int made_by = table_[static_cast<size_t>(loop)].made_by;
  if (made_by >= 0 && splits_[static_cast<size_t>(made_by)].outer == loop)
    return Failure{fmt::format("`{}` counts the steps of a split; what can be split again is the step",
                               step.loops[0][0])};
  Loop part;
  part.owner = table_[static_cast<size_t>(loop)].owner;
  part.made_by = static_cast<int>(splits_.size());
  part.name = step.makes[0];
  const int outer = add_loop(part);
  part.name = step.makes[1];
  const int inner = add_loop(part);
  splits_.push_back({loop, outer, inner, step.numbers[0]});
  order_[*at] = outer;
  order_.insert(order_.begin() + static_cast<ptrdiff_t>(*at) + 1, inner);
  return Done{};
}

Result<Done> Nest::fuse(const ScheduleStep& step) {
  auto outer = find_in_order(step.loops[0][0]);
  if (!outer) return outer.error();
  auto inner = find_in_order(step.loops[0][1]);
  if (!inner) return inner.error();
  if (auto made = make_name(step.makes[0]); !made) return made;
  const Loop& o = table_[static_cast<size_t>(order_[*outer])];
  const Loop& i = table_[static_cast<size_t>(order_[*inner])];
  if (*inner != *outer + 1 || o.owner != i.owner)
    return Failure{fmt::format("`{}` does not stand right inside of `{}`", i.name, o.name)};
  if (!o.extent || !i.extent) return Failure{"the parts of a split cannot be fused"};
  Loop fused;
  fused.name = step.makes[0];
  fused.owner = o.owner;
  fused.extent = dim_mul(o.extent, i.extent);
  const int made = add_loop(std::move(fused));
  fuses_.push_back({order_[*outer], order_[*inner], made});
  order_[*outer] = made;
  order_.erase(order_.begin() + static_cast<ptrdiff_t>(*inner));
  return Done{};
}

/// Whether the inner part of a split is inside of the outer part, unless all of its steps are alike.
Result<Done> Nest::parts_follow(const std::vector<int>& order) const {
  for (auto at = order.begin(); at != order.end(); ++at)
    for (int loop = *at; table_[static_cast<size_t>(loop)].made_by >= 0;) {
      const int outer = outer_of(loop);
      const Split& split = splits_[static_cast<size_t>(table_[static_cast<size_t>(loop)].made_by)];
      if (outer >= 0 && !even_count(split) && std::find(at, order.end(), outer) != order.end())
        return Failure{fmt::format("`{}` runs inside of `{}`: how far depends on it",
                                   table_[static_cast<size_t>(*at)].name,
                                   table_[static_cast<size_t>(outer)].name)};
      loop = split.loop;
    }
  return Done{};
}

Result<Done> Nest::reorder(const ScheduleStep& step) {
  std::vector<size_t> places;
  std::vector<int> wanted;
  for (const std::string& name : step.loops[0]) {
    auto at = find_in_order(name);
    if (!at) return at.error();
    if (std::count(places.begin(), places.end(), *at) != 0)
      return Failure{fmt::format("`{}` stands there twice", name)};
    places.push_back(*at);
    wanted.push_back(order_[*at]);
  }
  std::sort(places.begin(), places.end());
  std::vector<int> order = order_;
  for (size_t k = 0; k < places.size(); ++k) order[places[k]] = wanted[k];
  if (auto stands = parts_follow(order); !stands) return stands;
  const auto is_reduced = [&](int loop) { return table_[static_cast<size_t>(loop)].owner != kResult; };
  const auto first = std::find_if(order.begin(), order.end(), is_reduced);
  const auto tile = std::find_if(first, order.end(), [&](int loop) { return !is_reduced(loop); });
  if (tile != order.end()) {
    if (written_ < 0 && std::any_of(tile, order.end(), is_reduced))
      return Failure{
          "the loops of a tile are inside of all loops of the reduction, where there is no `cache_write`"};
    const bool simple = c_.reductions.size() == 1 && !c_.reductions[0].is_let &&
                        c_.reductions[0].inner.empty() && !is_arg(c_.reductions[0].kind);
    if (!simple) return Failure{"a tile is of one reduction, and of nothing else"};
  }
  order_ = std::move(order);
  return Done{};
}

Result<Done> Nest::mark(const ScheduleStep& step) {
  const bool lanes = step.primitive == Primitive::Vectorize;
  if (!step.numbers.empty() && (step.numbers[0] < 1 || step.numbers[0] > 64))
    return Failure{"the number is to be from 1 to 64"};
  auto at = find_in_order(step.loops[0][0]);
  if (!at) return at.error();
  Loop& loop = table_[static_cast<size_t>(order_[*at])];
  loop.kind = lanes ? LoopKind::Vectorize : LoopKind::Unroll;
  loop.width = step.numbers.empty() ? 0 : step.numbers[0].value;
  return Done{};
}

/// How far it runs is the same at every place.
bool Nest::is_whole(int loop) const {
  const Loop& l = table_[static_cast<size_t>(loop)];
  if (l.made_by < 0 || outer_of(loop) >= 0) return l.extent != nullptr;
  return table_[static_cast<size_t>(splits_[static_cast<size_t>(l.made_by)].loop)].extent != nullptr;
}

std::string Nest::shared_loop(int64_t many) const {
  constexpr int64_t kUnknown = 64;
  std::string best;
  int64_t most = 1, around = 1;
  for (const int loop : order_) {
    const Loop& l = table_[static_cast<size_t>(loop)];
    if (l.owner != kResult) break;
    const auto steps = most_steps(loop);
    const int64_t reached = steps.value_or(kUnknown) * (around <= kMostNumbered ? around : 1);
    if (l.kind == LoopKind::Serial && is_whole(loop) && reached > most) {
      best = l.name;
      most = reached;
      if (most >= many) break;
    }
    around = steps ? around * *steps : kMostNumbered + 1;
    if (around > kMostNumbered) around = kMostNumbered + 1;
  }
  return best;
}

Result<Done> Nest::parallel(const ScheduleStep& step) {
  auto at = find_in_order(step.loops[0][0]);
  if (!at) return at.error();
  const Loop& loop = table_[static_cast<size_t>(order_[*at])];
  if (loop.owner != kResult) return Failure{fmt::format("`{}` is of a reduction", loop.name)};
  if (!is_whole(order_[*at]))
    return Failure{fmt::format("how far `{}` runs depends on another loop", loop.name)};
  if (parallel_ >= 0) return Failure{"there is a parallel loop already"};
  parallel_ = order_[*at];
  return Done{};
}

Result<Done> Nest::peel(const ScheduleStep& step) {
  auto at = find_in_order(step.loops[0][0]);
  if (!at) return at.error();
  Loop& loop = table_[static_cast<size_t>(order_[*at])];
  if (loop.made_by < 0 || splits_[static_cast<size_t>(loop.made_by)].outer != order_[*at])
    return Failure{fmt::format("`{}` is not the outer part of a split", loop.name)};
  loop.peeled = true;
  auto stands = parts_follow(order_);
  loop.peeled = static_cast<bool>(stands);
  return stands;
}

/// A reordering, after which the steps are unrolled.
Result<Done> Nest::vthread(const ScheduleStep& step) {
  constexpr int64_t kMostThreads = 16;
  auto at = find_in_order(step.loops[0][0]);
  if (!at) return at.error();
  const int moved = order_[*at];
  const Loop& loop = table_[static_cast<size_t>(moved)];
  if (loop.owner != kResult) return Failure{fmt::format("`{}` is of a reduction", loop.name)};
  if (most_steps(moved).value_or(kMostThreads + 1) > kMostThreads)
    return Failure{fmt::format("`{}` may have more than {} steps", loop.name, kMostThreads)};
  if (loop.kind == LoopKind::Vectorize) return Failure{fmt::format("`{}` runs in lanes", loop.name)};
  std::vector<std::string> names = loops();
  const auto is_fixed = [&](const std::string& name) {
    const Loop& l = table_[static_cast<size_t>(*find(name))];
    return l.owner != kResult;
  };
  names.erase(names.begin() + static_cast<ptrdiff_t>(*at));
  auto place = std::find_if(names.rbegin(), names.rend(), is_fixed).base();
  if (place == names.begin()) {
    place = names.end();
    if (!names.empty() && table_[static_cast<size_t>(*find(names.back()))].kind == LoopKind::Vectorize)
      --place;
  }
  names.insert(place, loop.name);
  if (auto done = reorder({Primitive::Reorder, {}, {names}}); !done) return done;
  table_[static_cast<size_t>(moved)].kind = LoopKind::Unroll;
  table_[static_cast<size_t>(moved)].width = 0;
  return Done{};
}

Result<Done> Nest::bind(const ScheduleStep& step) {
  auto at = find_in_order(step.loops[0][0]);
  if (!at) return at.error();
  const auto index = find_grid_index(step.loops[0][1]);
  if (!index)
    return Failure{fmt::format("there is no `{}`; there are blockIdx.x, .y, .z and threadIdx.x, .y, .z",
                               step.loops[0][1])};
  Loop& loop = table_[static_cast<size_t>(order_[*at])];
  if (loop.owner != kResult) return Failure{fmt::format("`{}` is of a reduction", loop.name)};
  for (const int other : order_)
    if (other != order_[*at] && table_[static_cast<size_t>(other)].bound == *index)
      return Failure{fmt::format("{} is the index of `{}` already", to_string(*index),
                                 table_[static_cast<size_t>(other)].name)};
  loop.bound = *index;
  return Done{};
}

Result<Done> Nest::turn(const ScheduleStep& step) {
  auto loops = find_all(step.loops[1]);
  if (!loops) return loops.error();
  const size_t count = order_.size();
  if (count < 2 || order_[count - 2] != (*loops)[0] || order_[count - 1] != (*loops)[1])
    return Failure{"takes the two innermost loops"};
  if (!c_.reductions.empty()) return Failure{"there is a reduction"};
  const int v = outer_of((*loops)[0]), u = outer_of((*loops)[1]);
  const auto split_of = [&](int loop) -> const Split& {
    return splits_[static_cast<size_t>(table_[static_cast<size_t>(loop)].made_by)];
  };
  if (v < 0 || u < 0 || split_of(v).factor != split_of(u).factor)
    return Failure{"takes the inner parts of two splits of one width"};
  const int64_t width = split_of(v).factor;
  if (width < 2 || width > 16 || (width & (width - 1)) != 0)
    return Failure{"the width is to be 2, 4, 8 or 16"};
  auto buffer = std::find_if(c_.buffers.begin(), c_.buffers.end(),
                             [&](const Buffer& b) { return b.name == step.loops[0][0] && !b.is_output; });
  if (buffer == c_.buffers.end()) return Failure{fmt::format("there is no buffer `{}`", step.loops[0][0])};
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

Result<Done> Nest::turn_write(const ScheduleStep& step) {
  auto loops = find_all(step.loops[0]);
  if (!loops) return loops.error();
  if ((*loops)[0] == (*loops)[1]) return Failure{"takes two loops, and not one twice"};
  turned_write_ = (*loops)[0];
  turned_lanes_ = (*loops)[1];
  return Done{};
}

}  // namespace quern::loops
