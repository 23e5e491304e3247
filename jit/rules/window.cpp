#include "jit/rules/window.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/base/result.h"

namespace quern::loops {

namespace {

constexpr int64_t kCacheLine = 64;

/// Applies a step of the rule, which has to be possible.
auto steps_of(Nest& nest) {
  return [&nest](Primitive primitive, LoopIds loops, std::vector<ScheduleNumber> numbers = {}) {
    auto made = nest.apply({primitive, {std::move(loops)}, std::move(numbers)});
    QUERN_CHECK(made);
    return *made;
  };
}

class WindowRule {
 public:
  WindowRule(const Computation& computation, const MachineModel& machine)
      : c_(computation), machine_(machine) {}

  std::optional<Nest> run() {
    if (c_.running || c_.scatter || c_.reductions.size() != 1 || c_.vars.empty()) return std::nullopt;
    const Reduction& r = c_.reductions[0];
    if (r.is_let || is_arg(r.kind) || !r.inner.empty() || r.vars.empty()) return std::nullopt;
    const Dim along = c_.vars.back();
    bool fits = runs_along(c_.store_offset, along), any = false;
    size_t widest = std::max<size_t>(4, r.accumulator.bytes());
    for_each<IndexValue>(r.value, [&](const IndexValue& v) { fits &= !contains_var(v.dim, along); });
    for_each<LoadValue>(r.value, [&](const LoadValue& load) {
      const bool varies = contains_var(load.offset, along);
      const bool contiguous = !varies || runs_along(load.offset, along);
      if (!contiguous) packed_.insert(load.buffer);
      fits &= load.computed.empty() && (contiguous || is_packable(load));
      for (const BoundsCheck& check : load.checks)
        fits &= !check.computed && !contains_var(check.index, along);
      any |= varies && contiguous;
      widest = std::max(widest, load.dtype.bytes());
    });
    for (const Dim extent : r.extents)
      for (const Dim var : c_.vars) fits &= !contains_var(extent, var);
    const int64_t lanes = machine_.vector_bytes / static_cast<int64_t>(widest);
    const auto extent = as_const(c_.extents.back());
    if (!fits || !any || lanes < 2 || (extent && *extent * 2 <= lanes)) return std::nullopt;
    return scheduled(lanes, extent.value_or(4 * lanes));
  }

 private:
  static bool runs_along(Dim offset, Dim var) {
    const auto linear = linear_in(offset, var);
    return linear && is_const(linear->coefficient, 1);
  }

  /// Whether a form has its elements in lanes: only the last index moves it, as with filters whose channels are
  /// their outermost axis.
  bool is_packable(const LoadValue& load) const {
    const auto is_known = [](Dim extent) { return as_const(extent).has_value(); };
    return load.checks.empty() && is_known(c_.extents.back()) &&
           std::ranges::all_of(c_.reductions[0].extents, is_known) &&
           std::none_of(c_.vars.begin(), c_.vars.end() - 1,
                        [&](Dim var) { return contains_var(load.offset, var); });
  }

  /// The number of terms of an element, if constant.
  std::optional<int64_t> terms() const { return as_const(dim_product(c_.reductions[0].extents)); }

  std::optional<Nest> scheduled(int64_t lanes, int64_t extent) const {
    constexpr int64_t kMostUnrolled = 80, kMostRows = 8, kMostVectors = 8;
    // As many registers as accumulators leave for the weights and what is read.
    const int64_t most_tile = machine_.vector_registers - 8;
    Nest nest(c_);
    const auto step = steps_of(nest);
    const auto count = terms();
    const bool whole = count && *count <= kMostUnrolled;
    if (const size_t places = whole ? 0 : shared_places(); places > 0)
      return of_places(places, lanes, extent);
    LoopIds order = nest.loops_of(c_.vars);
    const LoopId along = order.back();
    order.pop_back();
    const bool streams = whole && reads_in_strides();
    const bool has_rows = whole && !streams && !order.empty() && !is_scattered(c_.vars[c_.vars.size() - 2]);

    const int64_t most_rows =
        has_rows && crowds_cache(kMostRows) ? std::min(kMostRows, rows_of_whole_lines(most_tile)) : kMostRows;
    const int64_t rows =
        has_rows ? std::clamp<int64_t>(kMostUnrolled / std::max<int64_t>(*count, 1), 1, most_rows) : 1;
    const int64_t most =
        has_rows ? std::max<int64_t>(1, most_tile / rows) : (whole && !streams ? 2 : kMostVectors);
    const int64_t vectors = std::clamp<int64_t>((extent + lanes - 1) / lanes, 1, most);
    const LoopIds reduced = nest.loops_of(c_.reductions[0].vars);
    for (const int buffer : packed_)
      if (!nest.apply({Primitive::Pack,
                       {{}, {}, {along}, reduced},
                       {vectors * lanes},
                       {c_.buffers[static_cast<size_t>(buffer)].name}}))
        return std::nullopt;
    const LoopIds columns = step(Primitive::Split, {along}, {vectors * lanes});
    LoopId tile_row = kNoLoop;
    if (has_rows) {
      const LoopIds parts = step(Primitive::Split, {order.back()}, {rows});
      order.back() = parts[0];
      tile_row = parts[1];
    }
    order.push_back(columns[0]);
    order.insert(order.end(), reduced.begin(), reduced.end());
    if (has_rows) order.push_back(tile_row);
    order.push_back(columns[1]);
    step(Primitive::Reorder, order);
    if (has_rows) step(Primitive::Unroll, {tile_row});
    step(Primitive::Vectorize, {columns[1]}, {lanes});
    if (whole) {
      for (const LoopId loop : reduced) step(Primitive::Unroll, {loop});
    } else {
      step(Primitive::Unroll, {reduced.back()}, {2});
    }
    if (const auto shared = nest.shared_loop()) step(Primitive::Parallel, {*shared});
    QUERN_CHECK(nest.is_complete());
    return nest;
  }

  /// Whether a window of one tensor moves by half of its extent or more, and by two places or more, as in most pooling:
  /// rows beside each other share little, and one row reads whole pixels one after another, which the processor foresees.
  bool reads_in_strides() const {
    const Reduction& r = c_.reductions[0];
    std::vector<LoadValue> loads;
    for_each<LoadValue>(r.value, [&](const LoadValue& load) { loads.push_back(load); });
    if (loads.size() != 1 || c_.vars.size() < 2) return false;
    const auto stride = [&](Dim var) { return known_stride(loads[0].offset, var).value_or(0); };
    const int64_t place = stride(r.vars.back()), row = stride(c_.vars[c_.vars.size() - 2]);
    return place > 0 && row >= 2 * place && 2 * row >= place * as_const(r.extents.back()).value_or(0);
  }

  /// Rows of a tile whose vectors are a line of the cache. Two tiles that share a line need it twice where the first-level
  /// cache loses it between them.
  int64_t rows_of_whole_lines(int64_t most_tile) const {
    return std::max<int64_t>(1, most_tile / std::max<int64_t>(1, kCacheLine / machine_.vector_bytes));
  }

  /// Whether the lines that a tile of so many rows reads fill more than half of a set of the first-level cache: pixels of a
  /// power of two of channels fall into few sets. A set has the lines whose addresses agree in all bits within a page.
  bool crowds_cache(int64_t rows) const {
    constexpr int64_t kPage = 4096;
    const Reduction& r = c_.reductions[0];
    bool crowds = false;
    for_each<LoadValue>(r.value, [&](const LoadValue& load) {
      std::set<int64_t> lines{0};
      const auto move_along = [&](Dim var, int64_t extent) {
        const auto linear = linear_in(load.offset, var);
        const auto stride = linear ? as_const(linear->coefficient) : std::nullopt;
        if (!stride) return;
        std::set<int64_t> moved;
        for (const int64_t at : lines)
          for (int64_t k = 0; k < extent; ++k)
            moved.insert(at + k * *stride * static_cast<int64_t>(load.dtype.bytes()));
        lines = std::move(moved);
      };
      for (size_t k = 0; k < r.vars.size(); ++k) move_along(r.vars[k], as_const(r.extents[k]).value_or(1));
      move_along(c_.vars[c_.vars.size() - 2], rows);
      std::map<int64_t, std::set<int64_t>> sets;
      for (const int64_t at : lines) sets[at % kPage / kCacheLine].insert(at / kCacheLine);
      for (const auto& [set, in_set] : sets)
        crowds |= static_cast<int64_t>(in_set.size()) * 2 > machine_.l1_bytes / kPage;
    });
    return crowds;
  }

  /// How many of the loops before the last one are places of a window on which a read does not depend: a tile of all of
  /// them shares its loads. The gradient of depthwise weights has such a read: it sums over an image for each place.
  size_t shared_places() const {
    constexpr int64_t kMostPlaces = 9;
    size_t places = 0;
    int64_t tile = 1;
    for (size_t k = c_.vars.size() - 1; k-- > 0; ++places) {
      const auto extent = as_const(c_.extents[k]);
      bool is_shared = false, moves = false;
      for_each<LoadValue>(c_.reductions[0].value, [&](const LoadValue& load) {
        if (!contains_var(load.offset, c_.vars.back())) return;
        (contains_var(load.offset, c_.vars[k]) ? moves : is_shared) = true;
      });
      if (!extent || tile * *extent > kMostPlaces || !is_shared || !moves) break;
      tile *= *extent;
    }
    return tile > 1 && packed_.empty() ? places : 0;
  }

  /// A tile of the last `places` loops before the last one, inside the reduction's loops. Only its first and last steps
  /// read out of bounds.
  Nest of_places(size_t places, int64_t lanes, int64_t extent) const {
    constexpr int64_t kStep = 2, kFewest = 3 * kStep, kVectors = 2;
    Nest nest(c_);
    const auto step = steps_of(nest);
    LoopIds order = nest.loops_of(c_.vars);
    const LoopId along = order.back();
    const LoopIds tile(order.end() - 1 - static_cast<ptrdiff_t>(places), order.end() - 1);
    order.resize(order.size() - 1 - places);
    const int64_t width = std::min(kVectors, (extent + lanes - 1) / lanes) * lanes;
    const LoopIds columns = step(Primitive::Split, {along}, {width});
    order.push_back(columns[0]);
    const LoopIds reduced = nest.loops_of(c_.reductions[0].vars);
    order.insert(order.end(), reduced.begin(), reduced.end());
    const bool is_cut = as_const(c_.reductions[0].extents.back()).value_or(0) >= kFewest;
    LoopIds steps{reduced.back()};
    if (is_cut) {
      steps = step(Primitive::Split, steps, {kStep});
      order.back() = steps[0];
      order.push_back(steps[1]);
    }
    order.insert(order.end(), tile.begin(), tile.end());
    order.push_back(columns[1]);
    step(Primitive::Reorder, order);
    for (const LoopId loop : tile) step(Primitive::Unroll, {loop});
    step(Primitive::Vectorize, {columns[1]}, {lanes});
    if (is_cut) {
      step(Primitive::Unroll, {steps[1]});
      step(Primitive::Peel, {steps[0]});
    }
    if (const auto shared = nest.shared_loop()) step(Primitive::Parallel, {*shared});
    QUERN_CHECK(nest.is_complete());
    return nest;
  }

  /// Whether no read has a constant stride along it.
  bool is_scattered(Dim var) const {
    bool linear = true;
    for_each<LoadValue>(c_.reductions[0].value, [&](const LoadValue& load) {
      if (!contains_var(load.offset, var)) return;
      const auto along = linear_in(load.offset, var);
      linear &= along && as_const(along->coefficient);
    });
    return !linear;
  }

  const Computation& c_;
  const MachineModel& machine_;
  std::set<int> packed_;  ///< buffers that are read with a stride
};

}  // namespace

std::optional<Nest> scheduled_window(const Computation& computation, const MachineModel& machine) {
  return WindowRule(computation, machine).run();
}

}  // namespace quern::loops
