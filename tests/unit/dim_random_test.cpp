// Dims by chance, against their values.

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "tests/unit/dim_builder.h"

namespace quern {
namespace {

using Values = std::array<int64_t, 4>;
using Random = std::mt19937;

/// An expression that is not normalised, next to the dim that the constructors make of it.
struct Tree {
  DimKind kind;
  int64_t value = 0;  ///< Const; Var: which
  std::vector<Tree> args;
};

class RandomDims {
 public:
  explicit RandomDims(uint32_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "c", "d"}) vars_.push_back(dim_var(name));
  }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  Tree tree(int depth) {
    if (depth == 0 || pick(0, 5) == 0) {
      if (pick(0, 2) == 0) return {DimKind::Const, pick(-4, 8), {}};
      return {DimKind::Var, pick(0, 3), {}};
    }
    constexpr std::array kinds = {DimKind::Sum,      DimKind::Sum,      DimKind::Product, DimKind::FloorDiv,
                                  DimKind::FloorMod, DimKind::Min,      DimKind::Max,     DimKind::Broadcast,
                                  DimKind::Product,  DimKind::FloorDiv, DimKind::FloorMod};
    // Mismatched broadcasts have no value, so they are kept rare.
    DimKind kind = kinds[static_cast<size_t>(pick(0, kinds.size() - 1))];
    if (kind == DimKind::Broadcast && pick(0, 3) != 0) kind = DimKind::Sum;
    return {kind, 0, {tree(depth - 1), tree(depth - 1)}};
  }

  Dim dim_of(const Tree& tree) const {
    if (tree.kind == DimKind::Const) return dim_const(tree.value);
    if (tree.kind == DimKind::Var) return vars_[static_cast<size_t>(tree.value)];
    return combine(tree.kind, dim_of(tree.args[0]), dim_of(tree.args[1]));
  }

  static Dim combine(DimKind kind, Dim a, Dim b) {
    switch (kind) {
      case DimKind::Sum: return dim_add(a, b);
      case DimKind::Product: return dim_mul(a, b);
      case DimKind::FloorDiv: return dim_floordiv(a, b);
      case DimKind::FloorMod: return dim_floormod(a, b);
      case DimKind::Min: return dim_min(a, b);
      case DimKind::Max: return dim_max(a, b);
      case DimKind::Broadcast: return dim_broadcast(a, b);
      case DimKind::Const:
      case DimKind::Var:
      case DimKind::Any:
      case DimKind::Infer: break;
    }
    return nullptr;
  }

  static std::optional<int64_t> value_of(const Tree& tree, const Values& values) {
    if (tree.kind == DimKind::Const) return tree.value;
    if (tree.kind == DimKind::Var) return values[static_cast<size_t>(tree.value)];
    std::optional<int64_t> a = value_of(tree.args[0], values);
    std::optional<int64_t> b = value_of(tree.args[1], values);
    if (!a || !b) return std::nullopt;
    if ((tree.kind == DimKind::FloorDiv || tree.kind == DimKind::FloorMod) && *b == 0) return std::nullopt;
    switch (tree.kind) {
      case DimKind::Sum: return *a + *b;
      case DimKind::Product: return *a * *b;
      case DimKind::FloorDiv: return floor_of(*a, *b);
      case DimKind::FloorMod: return *a - floor_of(*a, *b) * *b;
      case DimKind::Min: return std::min(*a, *b);
      case DimKind::Max: return std::max(*a, *b);
      case DimKind::Broadcast:
        if (*a != *b && *a != 1 && *b != 1) return std::nullopt;
        return *a == 1 ? *b : *a;
      case DimKind::Const:
      case DimKind::Var:
      case DimKind::Any:
      case DimKind::Infer: break;
    }
    return std::nullopt;
  }

  std::optional<int64_t> evaluate_at(Dim d, const Values& values) const {
    return evaluate(d, [&](Dim var) -> std::optional<int64_t> {
      for (size_t v = 0; v < vars_.size(); ++v) {
        if (vars_[v] == var) return values[v];
      }
      return std::nullopt;
    });
  }

  Values values(int64_t low, int64_t high) {
    Values out;
    for (int64_t& value : out) value = pick(low, high);
    return out;
  }

  Dim var(size_t at) const { return vars_[at]; }

 private:
  static int64_t floor_of(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  }

  Random random_;
  std::vector<Dim> vars_;
};

TEST(DimRandom, CanonicalFormKeepsTheValue) {
  RandomDims random(1);
  int compared = 0;
  for (int round = 0; round < 100000; ++round) {
    Tree tree = random.tree(4);
    Dim d = random.dim_of(tree);
    for (int point = 0; point < 4; ++point) {
      Values values = random.values(-6, 9);
      std::optional<int64_t> expected = RandomDims::value_of(tree, values);
      if (!expected) continue;
      ASSERT_EQ(random.evaluate_at(d, values), expected) << to_string(d);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100000);
}

TEST(DimRandom, SubstitutionCommutesWithEvaluation) {
  RandomDims random(2);
  int compared = 0;
  for (int round = 0; round < 20000; ++round) {
    Dim d = random.dim_of(random.tree(3));
    DimMap map;
    for (size_t v = 0; v < 3; ++v) map[random.var(v)] = random.dim_of(random.tree(2));
    Dim substituted = substitute(d, map);
    Values values = random.values(-5, 8);
    Values inner = values;
    bool defined = true;
    for (size_t v = 0; v < 3; ++v) {
      std::optional<int64_t> image = random.evaluate_at(map[random.var(v)], values);
      defined = defined && image.has_value();
      inner[v] = image.value_or(0);
    }
    std::optional<int64_t> expected = random.evaluate_at(d, inner);
    if (!defined || !expected) continue;
    ASSERT_EQ(random.evaluate_at(substituted, values), expected)
        << to_string(d) << " -> " << to_string(substituted);
    ++compared;
  }
  EXPECT_GT(compared, 5000);
}

TEST(DimRandom, LinearPartsAddUp) {
  RandomDims random(3);
  int found = 0;
  for (int round = 0; round < 20000; ++round) {
    Dim d = random.dim_of(random.tree(3));
    Dim var = random.var(0);
    std::optional<Linear> parts = linear_in(d, var);
    if (!parts) continue;
    ++found;
    EXPECT_FALSE(contains_var(parts->coefficient, var));
    EXPECT_FALSE(contains_var(parts->rest, var));
    ASSERT_EQ(dim_add(dim_mul(parts->coefficient, var), parts->rest), d) << to_string(d);
  }
  EXPECT_GT(found, 5000);
}

/// Facts over the four variables: c and d rigid, a and b index variables, with all points of a small range.
struct RandomFacts {
  Facts facts;
  std::array<Dim, 2> extents;
  std::array<int64_t, 2> lowers;

  explicit RandomFacts(RandomDims& random) {
    const std::array<Dim, 2> rigid = {random.var(2), random.var(3)};
    for (size_t v = 0; v < 2; ++v) {
      constexpr std::array<int64_t, 4> choices = {0, 1, -2, std::numeric_limits<int64_t>::min()};
      lowers[v] = choices[static_cast<size_t>(random.pick(0, 9)) % 4 * (random.pick(0, 1) ? 1 : 0)];
      if (lowers[v] != 0) facts.add_lower(rigid[v], lowers[v]);
    }
    for (size_t v = 0; v < 2; ++v) {
      extents[v] = extent(random, rigid[v], rigid[1 - v], v == 1 ? random.var(0) : nullptr);
      facts.add_index(random.var(v), extents[v]);
    }
  }

  static Dim extent(RandomDims& random, E n, E m, Dim outer) {
    const E k = random.pick(1, 4);
    switch (random.pick(0, 9)) {
      case 0: return k * n;
      case 1: return (n - m) / k + 1;
      case 2: return max(0, (n + k - 1) / k);
      case 3: return min(n, m);
      case 4: return n * m;
      case 5: return broadcast(n, m);
      case 6: return outer ? E(outer) + 1 : n;
      case 7: return outer ? min(k, n - k * outer) : k;
      default: return n;
    }
  }

  /// Calls `visit` for every point that satisfies the facts, rigid values up to 5.
  template <typename Visit>
  void for_each_point(const RandomDims& random, Visit visit) const {
    constexpr int64_t kHigh = 5;
    Values at{};
    for (at[2] = std::max<int64_t>(lowers[0], -4); at[2] <= kHigh; ++at[2]) {
      for (at[3] = std::max<int64_t>(lowers[1], -4); at[3] <= kHigh; ++at[3]) {
        const int64_t outer = random.evaluate_at(extents[0], at).value_or(0);
        for (at[0] = 0; at[0] < outer; ++at[0]) {
          const int64_t inner = random.evaluate_at(extents[1], at).value_or(0);
          for (at[1] = 0; at[1] < inner; ++at[1]) visit(at);
        }
      }
    }
  }
};

TEST(DimRandom, ProofsAreNeverWrong) {
  RandomDims random(4);
  int proved = 0;
  int interesting = 0;
  for (int round = 0; round < 3000; ++round) {
    RandomFacts known(random);
    Dim d = random.dim_of(random.tree(static_cast<int>(random.pick(1, 3))));
    // The tightest bound over the points makes the likeliest goal, one below it a goal that must fail.
    std::optional<int64_t> least;
    known.for_each_point(random, [&](const Values& at) {
      std::optional<int64_t> value = random.evaluate_at(d, at);
      if (value) least = std::min(least.value_or(*value), *value);
    });
    if (!least) continue;
    ++interesting;
    ASSERT_FALSE(prove_nonnegative(dim_sub(d, dim_const(*least + 1)), known.facts))
        << to_string(d) << " > " << *least << " for extents " << to_string(known.extents[0]) << ", "
        << to_string(known.extents[1]) << ", lower bounds " << known.lowers[0] << ", " << known.lowers[1];
    if (prove_nonnegative(dim_sub(d, dim_const(*least)), known.facts)) ++proved;
  }
  EXPECT_GT(interesting, 1500);
  EXPECT_GT(proved, interesting / 3);
}

TEST(DimRandom, SimplifyKeepsTheValue) {
  RandomDims random(5);
  int changed = 0;
  for (int round = 0; round < 1500; ++round) {
    RandomFacts known(random);
    Dim d = random.dim_of(random.tree(3));
    Dim simple = simplify(d, known.facts);
    if (simple == d) continue;
    ++changed;
    known.for_each_point(random, [&](const Values& at) {
      std::optional<int64_t> value = random.evaluate_at(d, at);
      if (!value) return;
      ASSERT_EQ(random.evaluate_at(simple, at), value)
          << to_string(d) << " -> " << to_string(simple) << " for extents " << to_string(known.extents[0])
          << ", " << to_string(known.extents[1]);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changed, 50);
}

}  // namespace
}  // namespace quern
