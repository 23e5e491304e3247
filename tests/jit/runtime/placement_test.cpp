// Tensors in a block: none overlaps another that lives at the same time, and the block is hardly larger than it must be.

#include "jit/runtime/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "ir/value/tensor_memory.h"

namespace quern {
namespace {

/// The most bytes that live at one position.
int64_t widest(const std::vector<Lifetime>& tensors) {
  int64_t most = 0;
  for (const Lifetime& at : tensors) {
    int64_t sum = 0;
    for (const Lifetime& other : tensors)
      if (other.first <= at.first && at.first <= other.last) sum += other.bytes;
    most = std::max(most, sum);
  }
  return most;
}

void expect_disjoint(const std::vector<Lifetime>& tensors, const Placement& placement) {
  for (size_t a = 0; a < tensors.size(); ++a) {
    const int64_t begin = placement.offsets[a], end = begin + tensors[a].bytes;
    EXPECT_EQ(begin % static_cast<int64_t>(kTensorAlignment), 0);
    EXPECT_LE(end, placement.bytes);
    for (size_t b = 0; b < a; ++b) {
      if (tensors[a].first > tensors[b].last || tensors[b].first > tensors[a].last) continue;
      EXPECT_TRUE(end <= placement.offsets[b] || placement.offsets[b] + tensors[b].bytes <= begin)
          << "tensors " << b << " and " << a;
    }
  }
}

TEST(Placement, SharesWhatIsNotNeededAtTheSameTime) {
  const std::vector<Lifetime> tensors{{128, 0, 1}, {64, 1, 2}, {128, 2, 3}, {64, 3, 3}};
  const Placement placement = place(tensors);
  EXPECT_EQ(placement.bytes, 192);
  EXPECT_EQ(placement.offsets, (std::vector<int64_t>{0, 128, 0, 128}));
}

TEST(Placement, TakesTheSmallestGapThatIsLargeEnough) {
  // The last one fits between the first and the third, and beside the second there is more room.
  const std::vector<Lifetime> tensors{{640, 0, 9}, {512, 0, 4}, {448, 0, 9},
                                      {384, 0, 4}, {320, 0, 9}, {256, 5, 9}};
  const Placement placement = place(tensors);
  EXPECT_EQ(placement.offsets[5], placement.offsets[3]);
}

TEST(Placement, LeavesOutWhatHasNoSizeOrTooMuch) {
  const std::vector<Lifetime> tensors{{0, 0, 1}, {64, 0, 1}, {INT64_MAX, 0, 1}};
  EXPECT_EQ(place(tensors).offsets, (std::vector<int64_t>{-1, 0, -1}));
  EXPECT_EQ(place({}).bytes, 0);
  const std::vector<Lifetime> large(8, {int64_t{1} << 60, 0, 1});
  const Placement placement = place(large);
  EXPECT_EQ(placement.bytes, int64_t{1} << 62);
  EXPECT_EQ(std::ranges::count(placement.offsets, -1), 4);
}

TEST(Placement, RandomTensorsAreDisjointAndClose) {
  std::mt19937 random(1);
  int64_t blocks = 0, least = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Lifetime> tensors(random() % 30 + 1);
    for (Lifetime& tensor : tensors) {
      const auto first = static_cast<uint32_t>(random() % 40);
      tensor = {static_cast<int64_t>((random() % 64 + 1) * kTensorAlignment), first,
                first + static_cast<uint32_t>(random() % 10)};
    }
    const Placement placement = place(tensors);
    expect_disjoint(tensors, placement);
    EXPECT_GE(placement.bytes, widest(tensors));
    blocks += placement.bytes;
    least += widest(tensors);
  }
  EXPECT_LT(static_cast<double>(blocks), 1.06 * static_cast<double>(least));
}

/// The least block: tensors at the lowest offset that is free, in the best order.
int64_t least_block(const std::vector<Lifetime>& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t least = INT64_MAX;
  do {
    std::vector<int64_t> offsets(tensors.size(), -1);
    int64_t bytes = 0;
    for (const size_t k : order) {
      int64_t at = 0;
      for (bool is_free = false; !is_free;) {
        is_free = true;
        for (size_t b = 0; b < tensors.size(); ++b) {
          const bool meets =
              offsets[b] >= 0 && tensors[k].first <= tensors[b].last && tensors[b].first <= tensors[k].last;
          if (!meets || at + tensors[k].bytes <= offsets[b] || offsets[b] + tensors[b].bytes <= at) continue;
          at = offsets[b] + tensors[b].bytes;
          is_free = false;
        }
      }
      offsets[k] = at;
      bytes = std::max(bytes, at + tensors[k].bytes);
    }
    least = std::min(least, bytes);
  } while (std::ranges::next_permutation(order).found);
  return least;
}

TEST(Placement, IsNearTheBestOrder) {
  std::mt19937 random(2);
  int64_t blocks = 0, least = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Lifetime> tensors(6);
    for (Lifetime& tensor : tensors) {
      const auto first = static_cast<uint32_t>(random() % 8);
      tensor = {static_cast<int64_t>((random() % 8 + 1) * kTensorAlignment), first,
                first + static_cast<uint32_t>(random() % 4)};
    }
    const int64_t best = least_block(tensors);
    EXPECT_GE(place(tensors).bytes, best);
    blocks += place(tensors).bytes;
    least += best;
  }
  EXPECT_LE(static_cast<double>(blocks), 1.03 * static_cast<double>(least));
}

TEST(Placements, KeepThoseOfTheLastSizes) {
  Placements placements;
  const auto of = [&](int64_t bytes) {
    const std::vector<Lifetime> tensors{{bytes, 0, 1}, {2 * bytes, 1, 2}};
    return placements.of(tensors);
  };
  const auto first = of(64);
  EXPECT_EQ(of(64), first);
  EXPECT_EQ(of(128)->bytes, 384);
  for (int64_t other = 3; other < 20; ++other) of(64 * other);
  EXPECT_NE(of(64), first);
  EXPECT_EQ(first->bytes, 192);
}

}  // namespace
}  // namespace quern
