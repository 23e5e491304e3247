// Linear arithmetic over dims against counting: whatever is proved holds of all small values.

#include <gtest/gtest.h>

#include <random>

#include "ir/dim/dim.h"
#include "ir/dim/omega.h"

namespace quern {
namespace {

Dim c(int64_t value) { return dim_const(value); }

TEST(Omega, EqualitiesBySubstitution) {
  EXPECT_EQ(integers_satisfy({{{2, -4}, 1}}, {}), Feasibility::Infeasible);  // 2x - 4y + 1 = 0
  EXPECT_EQ(integers_satisfy({{{2, -3}, 1}}, {}), Feasibility::Feasible);
  // Pugh's example: 7x + 12y + 31z = 17, 3x + 5y + 14z = 7, 1 <= x <= 40, -50 <= y <= 50.
  std::vector<LinearConstraint> equal = {{{7, 12, 31}, -17}, {{3, 5, 14}, -7}};
  std::vector<LinearConstraint> bounds = {{{1}, -1}, {{-1}, 40}, {{0, 1}, 50}, {{0, -1}, 50}};
  EXPECT_EQ(integers_satisfy(equal, bounds), Feasibility::Feasible);
}

TEST(Omega, RealShadowsThatHoldNoInteger) {
  // 27 <= 11x + 13y <= 45, -10 <= 7x - 9y <= 4: real solutions, no integer one.
  std::vector<LinearConstraint> rows = {{{11, 13}, -27}, {{-11, -13}, 45}, {{7, -9}, 10}, {{-7, 9}, 4}};
  EXPECT_EQ(integers_satisfy({}, rows), Feasibility::Infeasible);
  rows[1].constant = 46;
  bool found = false;
  for (int x = -20; x <= 20; ++x)
    for (int y = -20; y <= 20; ++y) {
      int a = 11 * x + 13 * y, b = 7 * x - 9 * y;
      found |= 27 <= a && a <= 46 && -10 <= b && b <= 4;
    }
  EXPECT_EQ(integers_satisfy({}, rows), found ? Feasibility::Feasible : Feasibility::Infeasible);
}

TEST(Omega, OfManyVariablesThatAreBoundedOnOneSide) {
  // x0, … >= 0, y >= 0 and x0 + … > y: all but y may be as large as need be.
  constexpr size_t kCount = 600;
  std::vector<LinearConstraint> rows;
  LinearConstraint sum{std::vector<int64_t>(kCount + 1, 1), -1};
  sum.coefficients[kCount] = -1;
  rows.push_back(sum);
  for (size_t v = 0; v <= kCount; ++v) {
    LinearConstraint bound{std::vector<int64_t>(v + 1), 0};
    bound.coefficients[v] = 1;
    rows.push_back(bound);
  }
  EXPECT_EQ(integers_satisfy({}, rows), Feasibility::Feasible);
  rows.push_back({{}, -1});
  EXPECT_EQ(integers_satisfy({}, rows), Feasibility::Infeasible);
}

TEST(DimLinear, DivisibilityIsKept) {
  Dim n = dim_var("n"), m = dim_var("m");
  Facts facts;
  facts.add_nonnegative(dim_sub(c(0), dim_floormod(n, c(4))));  // and a remainder is never negative
  EXPECT_TRUE(prove_equal(dim_mul(dim_floordiv(n, c(4)), c(4)), n, facts));
  EXPECT_TRUE(prove_equal(dim_floormod(n, c(2)), c(0), facts));
  EXPECT_TRUE(prove_different(n, dim_add(dim_mul(m, c(4)), c(2)), facts));
  EXPECT_FALSE(prove_different(n, dim_mul(m, c(2)), facts));
  EXPECT_TRUE(prove_different(dim_mul(n, c(2)), c(7), Facts()));
}

TEST(DimLinear, DimsAreNotNegative) {
  Dim n = dim_var("n");
  EXPECT_TRUE(prove_equal(dim_min(c(0), n), c(0), Facts()));
  EXPECT_TRUE(prove_equal(dim_max(c(0), n), n, Facts()));
  EXPECT_FALSE(prove_equal(dim_min(c(1), n), c(1), Facts()));
}

// --- random questions over three dims, each below kRange

constexpr int64_t kRange = 7;

class Questions {
 public:
  explicit Questions(uint32_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "d"}) vars.push_back(dim_var(name));
  }
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  Dim linear() {
    Dim out = c(number(-6, 6));
    for (Dim var : vars) out = dim_add(out, dim_mul(var, c(number(-3, 3))));
    return out;
  }
  Dim dim(int depth) {
    if (depth == 0) return linear();
    switch (number(0, 6)) {
      case 0: return dim_floordiv(dim(depth - 1), c(number(1, 5)));
      case 1: return dim_floormod(dim(depth - 1), c(number(1, 5)));
      case 2: return dim_min(dim(depth - 1), linear());
      case 3: return dim_max(dim(depth - 1), linear());
      case 4: return dim_add(dim(depth - 1), dim(depth - 1));
      default: return linear();
    }
  }
  std::vector<Dim> vars;

 private:
  std::mt19937 random_;
};

struct Counted {
  bool always = true, never = true;
};
/// Whether d >= 0 at the points of the box where all facts are >= 0.
Counted count(const std::vector<Dim>& vars, Dim d, const std::vector<Dim>& facts) {
  Counted out;
  for (int64_t x = 0; x < kRange; ++x)
    for (int64_t y = 0; y < kRange; ++y)
      for (int64_t z = 0; z < kRange; ++z) {
        auto value = [&](Dim var) -> std::optional<int64_t> {
          return var == vars[0] ? x : var == vars[1] ? y : z;
        };
        bool inside = true;
        for (Dim fact : facts) inside &= *evaluate(fact, value) >= 0;
        if (!inside) continue;
        bool holds = *evaluate(d, value) >= 0;
        out.always &= holds;
        out.never &= !holds;
      }
  return out;
}

/// Asks `rounds` questions within a bounded box; gives how many that hold were not proved.
std::pair<int, int> ask(uint32_t seed, int rounds, int depth) {
  Questions questions(seed);
  int holding = 0, unknown = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Dim> known;
    Facts facts;
    for (Dim var : questions.vars) facts.add_nonnegative(dim_sub(c(kRange - 1), var));
    for (int64_t k = questions.number(0, 2); k > 0; --k) {
      known.push_back(questions.linear());
      facts.add_nonnegative(known.back());
    }
    Dim d = dim_add(questions.dim(depth), c(questions.number(0, 12)));
    Counted counted = count(questions.vars, d, known);
    bool proved = prove_nonnegative(d, facts);
    EXPECT_TRUE(!proved || counted.always) << to_string(d) << " seed " << seed << " round " << round;
    bool impossible = prove_impossible({}, {{d}}, facts);
    EXPECT_TRUE(!impossible || counted.never) << to_string(d) << " seed " << seed << " round " << round;
    holding += counted.always + counted.never;
    unknown += (counted.always && !proved) + (counted.never && !impossible);
  }
  return {holding, unknown};
}

TEST(DimLinear, LinearQuestionsAreDecided) {
  auto [holding, unknown] = ask(1, 600, 0);
  EXPECT_GT(holding, 200);
  EXPECT_EQ(unknown, 0) << "of " << holding;
}

TEST(DimLinear, FloorDivisionAndModuloAreDecided) {
  auto [holding, unknown] = ask(2, 600, 2);
  EXPECT_GT(holding, 150);
  EXPECT_LE(unknown * 100, holding) << unknown << " of " << holding;
}

}  // namespace
}  // namespace quern
