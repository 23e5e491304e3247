#pragma once
// Rules by which dims are rewritten, one row each: the code rewrites what is written as the row says, and Z3 proves that both
// have one value, for all integers that the row's condition allows.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/proofs/z3_dims.h"

namespace quern {

class DimRules : public ::testing::Test {
 protected:
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  static constexpr unsigned kLimit = 8'000'000;  ///< of Z3's work on one claim

  /// What the quotient of a proof is, of which Z3 is told when it has seen that it is that.
  struct Quotient {
    Tree division, value;
  };

  struct Rule {
    const char* name;
    Tree before;
    std::string after;                 ///< the text of the dim
    std::vector<Fact> facts = {};      ///< under which it is simplified
    std::vector<Quotient> steps = {};  ///< each proved by those before
  };

  /// A rule with constants, for all of which it is proved at once. (Those of a `Rule` are proved as they are.)
  struct ConstantRule {
    const char* name;
    Tree before, after;
    std::vector<std::pair<Tree, int64_t>> constants;  ///< variables of both, and values for them
    std::vector<Fact> condition;
    std::string text;  ///< of the dim with these values
    std::vector<Quotient> steps = {};
  };

  Tree n = dim_var("n"), m = dim_var("m"), k = dim_var("k"), h = dim_var("h"), x = dim_var("x"),
       y = dim_var("y"), i = dim_var("i"), j = dim_var("j");

  /// Proves `left == right` wherever `left` has a value; there `right` has one too.
  static void prove(Z3Dims& z3, const Tree& left, const auto& right, const std::vector<Quotient>& steps) {
    z3.assume(z3.of(left).defined);
    ASSERT_EQ(z3.follows(!z3.yes(), kLimit), Verdict::Fails) << "the condition holds nowhere";
    // The right side comes last, so that the steps are proved without its divisions.
    for (const Quotient& step : steps) {
      const Z3Dims::Meaning value = z3.of(step.value);
      EXPECT_EQ(z3.follows(z3.same(step.division, value), kLimit), Verdict::Holds)
          << text(step.division) << " == " << text(step.value);
      z3.learn_quotient(step.division, value.value);
    }
    const Verdict verdict = z3.follows(z3.same(left, z3.of(right)), kLimit);
    EXPECT_NE(verdict, Verdict::Unknown);
    EXPECT_NE(verdict, Verdict::Fails) << "not where " << z3.counterexample();
  }

  /// Of dims as they are made: for all integers.
  static void made(const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
      SCOPED_TRACE(rule.name);
      Dim after = dim_of(rule.before);
      EXPECT_EQ(to_string(after), rule.after);
      Z3Dims z3;
      prove(z3, rule.before, after, rule.steps);
    }
  }

  static void made_for_all(const std::vector<ConstantRule>& rules) {
    for (const ConstantRule& rule : rules) {
      SCOPED_TRACE(rule.name);
      Dim after = dim_of(substitute(rule.before, rule.constants));
      EXPECT_EQ(to_string(after), rule.text);
      EXPECT_EQ(dim_of(substitute(rule.after, rule.constants)), after);
      Z3Dims one;
      prove(one, substitute(rule.before, rule.constants), after, {});
      Z3Dims all;
      for (const Fact& fact : rule.condition) all.assume(all.holds(fact));
      prove(all, rule.before, rule.after, rule.steps);
    }
  }

  static void simplified(const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
      SCOPED_TRACE(rule.name);
      Dim after = simplify(dim_of(rule.before), facts_of(rule.facts));
      EXPECT_EQ(to_string(after), rule.after);
      Z3Dims z3;
      z3.assume(rule.facts);
      prove(z3, rule.before, after, rule.steps);
    }
  }
};

}  // namespace quern
