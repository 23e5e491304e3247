// Dims and facts by chance: Z3 finds no integers for which a simplified dim has another value than what was
// written, or for which a claim that is proved does not hold.

#include <gtest/gtest.h>

#include <limits>

#include "ir/dim/prover.h"
#include "tests/ir/dim/random_dims.h"
#include "tests/proofs/z3_dims.h"

namespace quern {
namespace {

using Values = RandomDims::Values;

/// Of Z3's work on one claim.
constexpr unsigned kRandomLimit = 200'000;

/// Facts over index variables a and b and rigid c and d that hold at `point`, so that they do not contradict
/// each other.
std::vector<Fact> facts_at(RandomDims& random, const Values& point) {
  std::vector<Fact> out;
  auto tell = [&](const Fact& fact, auto holds) {
    const std::optional<int64_t> a = random.evaluate_at(fact.a, point);
    const std::optional<int64_t> b = random.evaluate_at(fact.b, point);
    if (a && b && holds(*a, *b)) out.push_back(fact);
  };
  const std::array<Tree, 2> rigid = {random.var(2), random.var(3)};
  for (const Tree& var : rigid) {
    constexpr std::array<int64_t, 4> bounds = {0, 1, -2, std::numeric_limits<int64_t>::min()};
    // Without a bound it would be >= 0.
    const int64_t value = random.value_at(var.var, point);
    const int64_t bound = bounds[static_cast<size_t>(random.pick(0, 3))];
    if (value < 0 || random.pick(0, 2) == 0) out.push_back(lower(var, bound <= value ? bound : bounds[3]));
  }
  for (size_t v = 0; v < 2; ++v) {
    tell(index(random.var(v), random.extent(rigid[v], rigid[1 - v], v == 1 ? random.var(0) : nullptr)),
         [](int64_t at, int64_t extent) { return 0 <= at && at < extent; });
  }
  if (random.pick(0, 1) == 0) tell(nonnegative(random.tree(1)), std::greater_equal<>());
  const Tree known = random.tree(1);
  if (random.pick(0, 2) == 0)
    tell(equal(known, random.evaluate_at(known, point).value_or(0)), std::equal_to<>());
  return out;
}

Values point_of(RandomDims& random) {
  Values out = random.values(0, 9);
  if (random.pick(0, 3) == 0) out = random.values(-6, 9);
  // Index variables are never below 0.
  for (size_t v = 0; v < 2; ++v) out[v] = std::abs(out[v]);
  return out;
}

/// The tree with simple divisors: Z3 soon gives up on products of unknowns.
Tree with_simple_divisors(RandomDims& random, Tree tree) {
  for (Tree& arg : tree.args) arg = with_simple_divisors(random, arg);
  const bool division = tree.kind == DimKind::FloorDiv || tree.kind == DimKind::FloorMod;
  if (division && tree.args[1].kind != DimKind::Var)
    tree.args[1] = random.pick(1, 6) * (random.pick(0, 4) == 0 ? -1 : 1);
  return tree;
}

/// Trees that have values at a point where the facts hold.
struct Case {
  Values point{};
  std::vector<Fact> told;
  Facts facts;
  Tree a = 0, b = 0;
};

Case draw_case(RandomDims& random, int depth) {
  Case out;
  do {
    out.point = point_of(random);
    out.a = with_simple_divisors(random, random.tree(depth));
    out.b = with_simple_divisors(random, random.tree(1));
  } while (!random.evaluate_at(out.a, out.point) || !random.evaluate_at(out.b, out.point));
  out.told = facts_at(random, out.point);
  out.facts = facts_of(out.told);
  return out;
}

/// Counts what Z3 says of claims that have to hold.
class Claims {
 public:
  /// `claim`, a term of Z3, holds under the facts wherever the trees have values.
  void hold(const Case& of, const std::string& what, const std::function<z3::expr(Z3Dims&)>& claim) {
    Z3Dims z3;
    z3.assume(of.told);
    z3.assume(z3.of(of.a).defined && z3.of(of.b).defined);
    const Verdict verdict = z3.follows(claim(z3), kRandomLimit);
    ++asked_;
    unknown_ += verdict == Verdict::Unknown ? 1 : 0;
    ASSERT_NE(verdict, Verdict::Fails)
        << what << "\nwhere " << text(of.told) << "\nnot at " << z3.counterexample();
  }

  /// That there were claims enough, and Z3 gave up on few of them.
  void expect(int asked, double unknown_share) const {
    EXPECT_GE(asked_, asked);
    EXPECT_LE(unknown_, unknown_share * asked_) << "unknown, of " << asked_;
  }

 private:
  int asked_ = 0, unknown_ = 0;
};

void simplified(Claims& claims, const Case& one) {
  const Dim simple = simplify(dim_of(one.a), one.facts);
  claims.hold(one, text(one.a) + " -> " + to_string(simple),
              [&](Z3Dims& z3) { return z3.same(one.a, z3.of(simple)); });
}

TEST(DimZ3Random, WhatIsSimplifiedKeepsItsValue) {
  RandomDims random(11);
  Claims claims;
  for (int round = 0; round < 300; ++round) {
    Case one = draw_case(random, 0);
    one.a = random.tree(2);
    simplified(claims, one);
  }
  claims.expect(300, 0.05);
}

TEST(DimZ3Random, WhatIsSimplifiedKeepsItsValueUnderSimpleDivisors) {
  RandomDims random(17);
  Claims claims;
  for (int round = 0; round < 300; ++round) simplified(claims, draw_case(random, 3));
  claims.expect(300, 0.05);
}

TEST(DimZ3Random, LowerBoundsThatAreProvedHold) {
  RandomDims random(13);
  Claims claims;
  for (int round = 0; round < 300; ++round) {
    const Case one = draw_case(random, 2);
    // The greatest bound that is proved is the likeliest to be wrong.
    const int64_t value = *random.evaluate_at(one.a, one.point);
    for (int64_t bound = value + 1; bound > value - 8; --bound) {
      if (!prove_nonnegative(dim_of(one.a - bound), one.facts)) continue;
      claims.hold(one, text(one.a) + " >= " + std::to_string(bound),
                  [&](Z3Dims& z3) { return z3.of(one.a).value >= z3.constant(bound); });
      break;
    }
  }
  claims.expect(100, 0.05);
}

TEST(DimZ3Random, ComparisonsThatAreProvedHold) {
  RandomDims random(14);
  Claims less, less_equal, equal, different;
  for (int round = 0; round < 400; ++round) {
    Case one = draw_case(random, 2);
    // b is moved to where its comparison with a is close.
    const int64_t apart = *random.evaluate_at(one.a, one.point) - *random.evaluate_at(one.b, one.point);
    one.b = one.b + (apart + random.pick(-1, 7));
    if (round % 4 == 0) one.b = one.a + (one.b - one.b % 2) % 2;
    const Dim a = dim_of(one.a), b = dim_of(one.b);
    auto claim = [&](Claims& claims, bool proved, const char* relation, auto compare) {
      if (!proved) return;
      claims.hold(one, text(one.a) + relation + text(one.b),
                  [&](Z3Dims& z3) { return compare(z3.of(one.a).value, z3.of(one.b).value); });
    };
    claim(less, prove_less(a, b, one.facts), " < ", [](const auto& x, const auto& y) { return x < y; });
    claim(less_equal, prove_less_equal(a, b, one.facts),
          " <= ", [](const auto& x, const auto& y) { return x <= y; });
    claim(equal, prove_equal(a, b, one.facts), " == ", [](const auto& x, const auto& y) { return x == y; });
    claim(different, prove_different(a, b, one.facts),
          " != ", [](const auto& x, const auto& y) { return x != y; });
  }
  less.expect(20, 0.05);
  less_equal.expect(40, 0.05);
  equal.expect(40, 0.05);
  different.expect(20, 0.05);
}

TEST(DimZ3Random, WhatIsProvedImpossibleIs) {
  RandomDims random(15);
  Claims claims;
  for (int round = 0; round < 400; ++round) {
    const Case one = draw_case(random, 2);
    const Tree zero = one.a - random.pick(-3, 6);
    const Tree nonnegative = random.pick(-3, 6) - one.b;
    if (!prove_impossible({{dim_of(zero)}}, {{dim_of(nonnegative)}}, one.facts)) continue;
    claims.hold(one, text(zero) + " == 0, " + text(nonnegative) + " >= 0",
                [&](Z3Dims& z3) { return z3.of(zero).value != 0 || z3.of(nonnegative).value < 0; });
  }
  claims.expect(60, 0.05);
}

TEST(DimZ3Random, BoundsWithoutSearchHold) {
  RandomDims random(16);
  Claims lower, range, tight, linear;
  for (int round = 0; round < 300; ++round) {
    const Case one = draw_case(random, 2);
    const Dim a = dim_of(one.a), b = dim_of(one.b), var = random.var(0);
    DimProver prover(one.facts);
    prover.assume_evaluated(a);
    prover.assume_evaluated(b);
    const std::string name = text(one.a);
    if (const std::optional<int64_t> bound = prover.lower(a)) {
      lower.hold(one, name + " >= " + std::to_string(*bound),
                 [&](Z3Dims& z3) { return z3.of(one.a).value >= z3.constant(*bound); });
    }
    if (prover.in_range(a, b)) {
      range.hold(one, "0 <= " + name + " < " + text(one.b), [&](Z3Dims& z3) {
        return z3.of(one.a).value >= 0 && z3.of(one.a).value < z3.of(one.b).value;
      });
    }
    const Tree multiple = random.pick(2, 4) * one.a + random.pick(-3, 3);
    if (const Dim tightened = tighten(dim_of(multiple)); tightened != dim_of(multiple)) {
      tight.hold(one, text(multiple) + " >= 0 is " + to_string(tightened) + " >= 0",
                 [&](Z3Dims& z3) { return (z3.of(multiple).value >= 0) == (z3.of(tightened).value >= 0); });
    }
    if (const std::optional<Linear> parts = linear_in(a, var)) {
      const Dim sum = dim_add(dim_mul(parts->coefficient, var), parts->rest);
      linear.hold(one, name + " is " + to_string(sum),
                  [&](Z3Dims& z3) { return z3.same(one.a, z3.of(sum)); });
    }
  }
  lower.expect(100, 0.05);
  range.expect(10, 0.05);
  tight.expect(100, 0.05);
  linear.expect(100, 0.05);
}

}  // namespace
}  // namespace quern
