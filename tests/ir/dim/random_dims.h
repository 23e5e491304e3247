#pragma once
// Expressions over dims by chance.

#include <algorithm>
#include <array>
#include <random>

#include "tests/ir/dim/dim_tree.h"

namespace quern {

class RandomDims {
 public:
  using Values = std::array<int64_t, 4>;

  explicit RandomDims(uint32_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "c", "d"}) vars_.push_back(dim_var(name));
  }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  Tree tree(int depth) {
    if (depth == 0 || pick(0, 5) == 0) {
      if (pick(0, 2) == 0) return pick(-4, 8);
      return vars_[static_cast<size_t>(pick(0, 3))];
    }
    constexpr std::array kinds = {DimKind::Sum,      DimKind::Sum,      DimKind::Product, DimKind::FloorDiv,
                                  DimKind::FloorMod, DimKind::Min,      DimKind::Max,     DimKind::Broadcast,
                                  DimKind::Product,  DimKind::FloorDiv, DimKind::FloorMod};
    // Mismatched broadcasts have no value, so they are kept rare.
    DimKind kind = kinds[static_cast<size_t>(pick(0, kinds.size() - 1))];
    if (kind == DimKind::Broadcast && pick(0, 3) != 0) kind = DimKind::Sum;
    return Tree{kind, tree(depth - 1), tree(depth - 1)};
  }

  /// The extent of an index variable over n and m, and over the index of the loop around it where there is
  /// one.
  Tree extent(const Tree& n, const Tree& m, Dim outer) {
    const Tree k = pick(1, 4);
    switch (pick(0, 9)) {
      case 0: return k * n;
      case 1: return (n - m) / k + 1;
      case 2: return max(0, (n + k - 1) / k);
      case 3: return min(n, m);
      case 4: return n * m;
      case 5: return broadcast(n, m);
      case 6: return outer ? Tree(outer) + 1 : n;
      case 7: return outer ? min(k, n - k * outer) : k;
      default: return n;
    }
  }

  Values values(int64_t low, int64_t high) {
    Values out;
    for (int64_t& value : out) value = pick(low, high);
    return out;
  }

  Dim var(size_t at) const { return vars_[at]; }

  /// The value of a variable of these dims.
  int64_t value_at(Dim var, const Values& values) const {
    return values[static_cast<size_t>(std::ranges::find(vars_, var) - vars_.begin())];
  }
  std::optional<int64_t> evaluate_at(Dim d, const Values& values) const {
    return evaluate(d, [&](Dim var) -> std::optional<int64_t> { return value_at(var, values); });
  }
  std::optional<int64_t> evaluate_at(const Tree& tree, const Values& values) const {
    return value_of(tree, [&](Dim var) { return value_at(var, values); });
  }

 private:
  std::mt19937 random_;
  std::vector<Dim> vars_;
};

}  // namespace quern
