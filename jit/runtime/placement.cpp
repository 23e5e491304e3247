#include "jit/runtime/placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/value/tensor_memory.h"

namespace quern {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 62;

int64_t aligned(int64_t bytes) {
  constexpr auto kStep = static_cast<int64_t>(kTensorAlignment);
  return (bytes + kStep - 1) / kStep * kStep;
}

bool live_together(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// The bytes from `begin` to before `end`.
struct Span {
  int64_t begin, end;
};

/// The start of the smallest gap of at least `bytes` between `taken`, which are sorted by their begin, or their end.
int64_t best_gap(std::span<const Span> taken, int64_t bytes) {
  int64_t end = 0, best = -1, best_gap = kMostBytes;
  for (const Span& span : taken) {
    const int64_t gap = span.begin - end;
    if (gap >= bytes && gap < best_gap) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, span.end);
  }
  return best >= 0 ? best : end;
}

}  // namespace

Placement place(std::span<const Lifetime> tensors) {
  Placement result;
  result.offsets.assign(tensors.size(), -1);
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t k) { return tensors[k].bytes; });
  std::vector<size_t> placed;  // by offset
  std::vector<Span> taken;
  for (const size_t k : order) {
    const Lifetime& tensor = tensors[k];
    if (tensor.bytes <= 0 || tensor.bytes > kMostBytes / 2) continue;
    taken.clear();
    for (const size_t other : placed)
      if (live_together(tensor, tensors[other]))
        taken.push_back({result.offsets[other], result.offsets[other] + aligned(tensors[other].bytes)});
    const int64_t bytes = aligned(tensor.bytes), offset = best_gap(taken, bytes);
    if (offset > kMostBytes - bytes) continue;
    result.offsets[k] = offset;
    result.bytes = std::max(result.bytes, offset + bytes);
    const auto at =
        std::ranges::upper_bound(placed, offset, {}, [&](size_t other) { return result.offsets[other]; });
    placed.insert(at, k);
  }
  return result;
}

std::shared_ptr<const Placement> Placements::of(std::span<const Lifetime> tensors) {
  constexpr size_t kMost = 8;
  const auto has_sizes = [&](const Known& known) {
    return std::ranges::equal(known.sizes, tensors, {}, {}, &Lifetime::bytes);
  };
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(known_, has_sizes);
  if (found != known_.end()) {
    std::rotate(known_.begin(), found, found + 1);
    return known_.front().placement;
  }
  Known added{{}, std::make_shared<const Placement>(place(tensors))};
  for (const Lifetime& tensor : tensors) added.sizes.push_back(tensor.bytes);
  if (known_.size() == kMost) known_.pop_back();
  known_.insert(known_.begin(), std::move(added));
  return known_.front().placement;
}

}  // namespace quern
