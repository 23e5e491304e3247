#include <algorithm>

#include "jit/compute/computation.h"

namespace quern::loops {

namespace {

/// Larger elements are left as they are: a value with several uses is computed for each of them.
constexpr int kLargest = 256;

int size_of(const Computation& c) {
  int size = 0;
  for_each_value(c, [&](const Value&) { ++size; });
  return size;
}

bool reads_local(const Reduction& r, int local) {
  bool found = false;
  for_each_value(r, [&](const Value& v) {
    const auto* read = as<LocalValue>(v);
    found |= read && read->local == local;
  });
  return found;
}

void put_in(Computation& c, int local, const ValuePtr& value) {
  const auto in_place = [&](const Value& v) -> ValuePtr {
    const auto* read = as<LocalValue>(v);
    return read && read->local == local ? value : nullptr;
  };
  map_values(c, in_place);
}

}  // namespace

std::optional<Computation> with_lets_in_value(const Computation& c) {
  if (c.running || c.scatter || !c.running_results.empty()) return std::nullopt;
  // A let's own reductions come before it.
  std::vector<Reduction> flat;
  for (const Reduction& r : c.reductions) {
    if (!r.is_let) {
      flat.push_back(r);
      continue;
    }
    flat.insert(flat.end(), r.inner.begin(), r.inner.end());
    flat.push_back(r);
    flat.back().inner.clear();
  }
  const auto is_let = [](const Reduction& r) { return r.is_let; };
  const auto sum = std::ranges::find_if_not(flat, is_let);
  if (sum == flat.end() || std::ranges::count_if(flat, is_let) == 0 ||
      std::ranges::count_if(flat, is_let) + 1 != std::ssize(flat) || is_arg(sum->kind))
    return std::nullopt;
  for (const Reduction& r : flat)
    if (r.is_let && (reads_local(*sum, r.local) || !r.inner.empty())) return std::nullopt;
  Computation result = c;
  result.reductions = std::move(flat);
  for (size_t k = 0; k < result.reductions.size();) {
    if (!result.reductions[k].is_let) {
      ++k;
      continue;
    }
    const Reduction let = result.reductions[k];
    result.reductions.erase(result.reductions.begin() + static_cast<ptrdiff_t>(k));
    put_in(result, let.local, let.value);
    if (size_of(result) > kLargest) return std::nullopt;
  }
  return result;
}

}  // namespace quern::loops
