#include "jit/rules/results_in_lanes.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern::loops {

namespace {

/// The sums and lets in the order in which they are evaluated; a let's own sums come before it.
void add_flat(const std::vector<Reduction>& reductions, std::vector<Reduction>& flat) {
  for (const Reduction& r : reductions) {
    if (!r.is_let) {
      flat.push_back(r);
      continue;
    }
    add_flat(r.inner, flat);
    flat.push_back(r);
    flat.back().inner.clear();
  }
}

std::vector<Reduction> flat(const Computation& c) {
  std::vector<Reduction> all;
  add_flat(c.reductions, all);
  return all;
}

bool calls_a_function(const ValuePtr& value) {
  return any_of(value, [](const Value& v) {
    auto* apply = as<ApplyValue>(v);
    return apply && takes_long(*apply);
  });
}

/// Whether its reads are contiguous along the variable, or do not move.
bool runs_in_lanes(const ValuePtr& value, Dim along) {
  bool fits = true;
  for_each<LoadValue>(value, [&](const LoadValue& load) {
    const auto linear = linear_in(load.offset, along);
    fits &= linear && load.computed.empty() &&
            (is_const(linear->coefficient, 1) || is_const(linear->coefficient, 0));
  });
  for_each<CheckedValue>(value, [&](const CheckedValue& checked) { fits &= checked.checks.empty(); });
  return fits;
}

/// Whether it needs no other sum's result.
bool stands_alone(const Reduction& r) {
  bool alone = !is_arg(r.kind) && r.inner.empty();
  for_each_value(r, [&](const Value& v) { alone &= as<LocalValue>(v) == nullptr; });
  return alone;
}

}  // namespace

bool has_results_in_lanes(const Computation& c, Dim lanes, int width) {
  if (!lanes || c.vars.empty() || std::ranges::count(c.vars, lanes) > 0) return false;
  if (c.running || c.scatter || !c.running_results.empty() || c.takes_value >= 0) return false;
  const Dim along = c.vars.back();
  if (as_const(c.extents.back()).value_or(0) < width) return false;
  const auto stored = linear_in(c.store_offset, along);
  if (!stored || !is_const(stored->coefficient, 1) || !runs_in_lanes(c.value, along)) return false;
  bool calls = calls_a_function(c.value), fits = true;
  for (const Reduction& r : flat(c)) {
    fits &= r.is_let ? runs_in_lanes(r.value, along) : stands_alone(r);
    calls |= r.is_let && calls_a_function(r.value);
  }
  return fits && calls;
}

Block results_in_lanes(Computation& c, int64_t most, int width, const ReductionLoop& loop) {
  const Dim row = c.vars.back(), rows = c.extents.back();
  Block sums, results;
  for (const Reduction& r : flat(c)) {
    if (r.is_let) {
      results.push_back(declare(r.local, r.accumulator, r.value));
      continue;
    }
    const int scratch = static_cast<int>(c.buffers.size());
    Buffer buffer{fmt::format("sums{}", scratch), r.accumulator, {dim_const(most)}};
    buffer.is_scratch = true;
    c.buffers.push_back(std::move(buffer));
    add_reduction(r, loop, sums);
    sums.push_back(make(Store{.buffer = scratch, .offset = row, .value = value_of(r.local, r.accumulator)}));
    results.push_back(declare(r.local, r.accumulator, load_of(scratch, r.accumulator, row)));
  }
  results.push_back(make(Store{.buffer = output_of(c.buffers), .offset = c.store_offset, .value = c.value}));
  return {serial_loop(row, rows, std::move(sums)), vector_loop(row, rows, width, std::move(results))};
}

}  // namespace quern::loops
