#include "ide/footprint.h"

#include <algorithm>
#include <optional>

namespace quern::ide {

namespace {

/// A dim with a non-variable atom replaced, where that is a term or a factor.
Dim replaced(Dim d, Dim atom, Dim by) {
  if (d == atom) return by;
  if (d->kind != DimKind::Sum && d->kind != DimKind::Product) return d;
  Dim result = dim_const(d->kind == DimKind::Sum ? 0 : d->value);
  for (Dim arg : d->args)
    result = d->kind == DimKind::Sum ? dim_add(result, replaced(arg, atom, by))
                                     : dim_mul(result, replaced(arg, atom, by));
  return result;
}

/// The `min(c, n - c*v)` in a dim: the extent of a tile of n elements, of which the last may be partial, in a loop over
/// all tiles.
struct Parts {
  Dim extent, size, all;  ///< min(c, n - c*v), c, n
};
std::optional<Parts> parts_in(Dim d, const LoopRange& loop) {
  if (d->kind == DimKind::Min && d->args.size() == 2) {
    for (size_t i = 0; i < 2; ++i) {
      const Dim size = d->args[i];
      const auto rest = linear_in(d->args[1 - i], loop.var);
      if (!rest || contains_var(size, loop.var) || rest->coefficient != dim_sub(dim_const(0), size)) continue;
      const Dim count = dim_floordiv(dim_sub(dim_add(rest->rest, size), dim_const(1)), size);
      if (count == loop.extent) return Parts{d, size, rest->rest};
    }
    return std::nullopt;
  }
  if (d->kind != DimKind::Sum && d->kind != DimKind::Product) return std::nullopt;
  for (Dim arg : d->args)
    if (auto found = parts_in(arg, loop)) return found;
  return std::nullopt;
}

/// The maximum of a dim over loops; null if it is not found.
Dim greatest(Dim d, std::span<const LoopRange> loops) {
  if (d->kind == DimKind::Min) {
    Dim least = nullptr;
    for (Dim arg : d->args)
      if (Dim one = greatest(arg, loops)) least = least ? dim_min(least, one) : one;
    return least;
  }
  // An extent depends on the enclosing loops, which come after it.
  for (const LoopRange& loop : loops) {
    if (!contains_var(d, loop.var)) continue;
    const auto linear = linear_in(d, loop.var);
    const auto step = linear ? as_const(linear->coefficient) : std::nullopt;
    if (!step) return nullptr;
    d = linear->rest;
    if (*step < 0) continue;
    const Dim extent = greatest(loop.extent, loops);
    if (!extent) return nullptr;
    d = dim_add(d, dim_mul(linear->coefficient, dim_sub(extent, dim_const(1))));
  }
  return d;
}

/// A loop that moves through memory.
struct Axis {
  LoopRange loop;
  Dim stride, extent;  ///< the extent is the maximum

  bool moves_as(const Axis& other) const {
    return stride == other.stride && loop.extent == other.loop.extent;
  }
};

/// Offsets relative to the least one: their number and their reach.
struct Spread {
  const OffsetSet* of;       ///< null for a union of several
  Dim base = nullptr;        ///< the least offset
  std::vector<Axis> axes{};  ///< by stride; of one set
  Dim count = dim_const(1), reach = dim_const(0);
  Dim step = dim_const(1);  ///< the distance of neighbours; null if it varies
  bool is_exact = true;

  bool is_interval() const { return step && is_const(step, 1) && dim_add(reach, dim_const(1)) == count; }
};

/// The axes of a set, and its least offset; false where an offset is not linear in a loop's variable.
bool find_axes(const OffsetSet& set, std::vector<Axis>& axes, Dim& base) {
  base = set.offset;
  for (const LoopRange& loop : set.loops) {
    if (!base || !contains_var(base, loop.var)) continue;
    const auto linear = linear_in(base, loop.var);
    const Dim extent = greatest(loop.extent, set.loops);
    if (!linear || !extent) return false;
    base = linear->rest;
    Dim stride = linear->coefficient;
    if (as_const(stride).value_or(0) < 0) {
      base = dim_add(base, dim_mul(stride, dim_sub(extent, dim_const(1))));
      stride = dim_sub(dim_const(0), stride);
    }
    if (!is_const(extent, 1)) axes.push_back({loop, stride, extent});
  }
  return base != nullptr;
}

/// Takes out the axis with the smallest stride.
Axis take_smallest(std::vector<Axis>& axes, const Facts& facts) {
  auto smallest = axes.begin();
  for (auto axis = axes.begin() + 1; axis != axes.end(); ++axis)
    if (prove_less(axis->stride, smallest->stride, facts)) smallest = axis;
  const Axis taken = *smallest;
  axes.erase(smallest);
  return taken;
}

/// The reach of `count` elements at a distance of `step`.
Dim reach_of(Dim count, Dim step) { return dim_mul(step, dim_sub(count, dim_const(1))); }

void widen(Spread& spread, const Axis& axis, const Facts& facts) {
  const bool is_one = is_const(spread.count, 1);
  const Dim reach = dim_add(spread.reach, reach_of(axis.extent, axis.stride));
  const auto parts = parts_in(spread.count, axis.loop);
  if (spread.step && parts && parts->extent == spread.count &&
      axis.stride == dim_mul(spread.step, parts->size)) {
    // Contiguous tiles.
    spread.count = parts->all;
    spread.reach = reach_of(spread.count, spread.step);
    return;
  }
  if (is_one || prove_less(spread.reach, axis.stride, facts)) {
    // Disjoint copies.
    const bool is_even = is_one || (spread.step && axis.stride == dim_mul(spread.step, spread.count) &&
                                    !contains_var(spread.count, axis.loop.var));
    if (is_one) spread.step = axis.stride;
    if (!is_even) spread.step = nullptr;
    const Dim sum = sum_over(axis.loop, spread.count);
    spread.is_exact = spread.is_exact && sum;
    spread.count = sum ? sum : dim_mul(spread.count, axis.extent);
  } else if (spread.step && is_const(dim_floormod(axis.stride, spread.step), 0) &&
             prove_less_equal(axis.stride, dim_add(spread.reach, spread.step), facts)) {
    // Copies that overlap or touch, without a gap.
    spread.is_exact = spread.is_exact && axis.extent == axis.loop.extent &&
                      spread.reach == reach_of(spread.count, spread.step);
    spread.count = dim_add(dim_floordiv(reach, spread.step), dim_const(1));
  } else {
    spread.count = dim_mul(spread.count, axis.extent);
    spread.step = nullptr;
    spread.is_exact = false;
  }
  spread.reach = reach;
}

std::optional<Spread> spread_of(const OffsetSet& set, const Facts& facts) {
  Spread spread{&set};
  spread.is_exact = !set.is_conditional;
  std::vector<Axis> axes;
  if (!find_axes(set, axes, spread.base)) return std::nullopt;
  while (!axes.empty()) {
    spread.axes.push_back(take_smallest(axes, facts));
    widen(spread, spread.axes.back(), facts);
  }
  const Dim most = greatest(spread.count, set.loops);
  if (!most) return std::nullopt;
  spread.is_exact = spread.is_exact && most == spread.count;
  spread.count = most;
  return spread;
}

/// Adds a set of offsets; merges it into an equal set, or into an interval that it touches.
void add(std::vector<Spread>& spreads, const Spread& spread) {
  for (Spread& known : spreads) {
    const auto apart = as_const(dim_sub(spread.base, known.base));
    if (!apart) continue;
    if (*apart == 0 && known.of && std::ranges::equal(spread.axes, known.axes, &Axis::moves_as)) {
      known.is_exact = known.is_exact || spread.is_exact;
      return;
    }
    const auto reach = as_const(spread.reach), known_reach = as_const(known.reach);
    const bool are_intervals = spread.is_interval() && known.is_interval() && reach && known_reach;
    if (!are_intervals || *apart > *known_reach + 1 || -*apart > *reach + 1) continue;
    const int64_t end = std::max(*known_reach, *apart + *reach), begin = std::min<int64_t>(0, *apart);
    if (*apart < 0) known.base = spread.base;
    known.of = nullptr;
    known.is_exact = known.is_exact && spread.is_exact;
    known.reach = dim_const(end - begin);
    known.count = dim_const(end - begin + 1);
    return;
  }
  spreads.push_back(spread);
}

/// Whether two sets share no offset.
bool are_apart(const Spread& a, const Spread& b, const Facts& facts) {
  if (prove_less(dim_add(a.base, a.reach), b.base, facts) ||
      prove_less(dim_add(b.base, b.reach), a.base, facts))
    return true;
  if (!a.of || !b.of) return false;
  Facts both = facts;
  DimMap renamed;
  for (auto loop = a.of->loops.rbegin(); loop != a.of->loops.rend(); ++loop)
    both.add_index(loop->var, loop->extent);
  for (auto loop = b.of->loops.rbegin(); loop != b.of->loops.rend(); ++loop) {
    const Dim extent = substitute(loop->extent, renamed);
    both.add_index(renamed[loop->var] = dim_var(loop->var->name), extent);
  }
  return prove_different(a.of->offset, substitute(b.of->offset, renamed), both);
}

}  // namespace

Dim sum_over(const LoopRange& loop, Dim term) {
  constexpr int64_t kMostTerms = 4096;
  if (!contains_var(term, loop.var)) return dim_mul(loop.extent, term);
  if (const auto parts = parts_in(term, loop)) {
    const Dim part = dim_var("part");
    const auto linear = linear_in(replaced(term, parts->extent, part), part);
    if (linear && !contains_var(linear->coefficient, loop.var) && !contains_var(linear->rest, loop.var))
      return dim_add(dim_mul(linear->coefficient, parts->all), dim_mul(linear->rest, loop.extent));
  }
  const auto extent = as_const(loop.extent);
  if (!extent || *extent > kMostTerms) return nullptr;
  Dim sum = dim_const(0);
  for (int64_t i = 0; i < *extent; ++i) sum = dim_add(sum, substitute(term, {{loop.var, dim_const(i)}}));
  return sum;
}

ElementCount elements_reached(std::span<const OffsetSet> sets, Dim size, const Facts& facts) {
  std::vector<Spread> spreads;
  for (const OffsetSet& set : sets) {
    const auto spread = spread_of(set, facts);
    if (!spread) return {size, false};
    add(spreads, *spread);
  }
  ElementCount all{dim_const(0), true};
  for (size_t i = 0; i < spreads.size(); ++i) {
    all.number = dim_add(all.number, spreads[i].count);
    all.is_exact = all.is_exact && spreads[i].is_exact;
    for (size_t j = 0; all.is_exact && j < i; ++j) all.is_exact = are_apart(spreads[i], spreads[j], facts);
  }
  if (!all.is_exact && !prove_less(all.number, size, facts)) all.number = dim_min(all.number, size);
  return all;
}

}  // namespace quern::ide
