// Dims by chance, against their values.

#include <gtest/gtest.h>

#include <limits>

#include "tests/ir/dim/random_dims.h"

namespace quern {
namespace {

using Values = RandomDims::Values;

TEST(DimRandom, CanonicalFormKeepsTheValue) {
  RandomDims random(1);
  int compared = 0;
  for (int round = 0; round < 100000; ++round) {
    Tree tree = random.tree(4);
    Dim d = dim_of(tree);
    for (int point = 0; point < 4; ++point) {
      Values values = random.values(-6, 9);
      std::optional<int64_t> expected = random.evaluate_at(tree, values);
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
    Dim d = dim_of(random.tree(3));
    DimMap map;
    for (size_t v = 0; v < 3; ++v) map[random.var(v)] = dim_of(random.tree(2));
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
    Dim d = dim_of(random.tree(3));
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
      extents[v] = dim_of(random.extent(rigid[v], rigid[1 - v], v == 1 ? random.var(0) : nullptr));
      facts.add_index(random.var(v), extents[v]);
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
    Dim d = dim_of(random.tree(static_cast<int>(random.pick(1, 3))));
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
    Dim d = dim_of(random.tree(3));
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
