// The rules by which dims are made canonical and simplified, one row each: the code rewrites what is written
// as the row says, and Z3 proves that both have one value, for all integers that the row's condition allows.

#include <gtest/gtest.h>

#include <limits>

#include "tests/ir/dim/z3_dims.h"

namespace quern {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

constexpr unsigned kLimit = 8'000'000;  ///< of Z3's work on one claim

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
  std::vector<std::pair<Tree, int64_t>> constants;  ///< variables of both, and the values to rewrite them for
  std::vector<Fact> condition;
  std::string text;  ///< of the dim with these values
  std::vector<Quotient> steps = {};
};

class DimRules : public ::testing::Test {
 protected:
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

/// What `is_quotient` says has one solution.
TEST_F(DimRules, QuotientsAreUnique) {
  Z3Dims z3;
  const z3::expr a = z3.of(x).value, b = z3.of(y).value, q = z3.of(n).value, r = z3.of(m).value;
  z3.assume(b != 0 && Z3Dims::is_quotient(a, b, q) && Z3Dims::is_quotient(a, b, r));
  EXPECT_EQ(z3.follows(q == r, kLimit), Verdict::Holds);
  EXPECT_EQ(z3.follows(q == a, kLimit), Verdict::Fails);
}

TEST_F(DimRules, SumsAndProducts) {
  const Tree big = int64_t{1} << 62;
  made({
      {"0 is dropped", (0 + n) + 0, "n"},
      {"terms over the same atoms add up", n + m + n * 3 + m, "4*n + 2*m"},
      {"terms that cancel go away", n + m + k - n - k, "m"},
      {"all terms go away", n + m + 1 - n - m - 1, "0"},
      {"a dim less itself", n / m - n / m, "0"},
      {"less itself, where its negation overflows", Tree(kLeast) - kLeast, "0"},
      {"1 is dropped", 1 * n * 1, "n"},
      {"times 0", n / m * 0, "0"},
      {"factors are merged in order", m * n * m * n, "n*n*m*m"},
      {"products are distributed", (n + 1) * (m - 2) * 3, "3*n*m + 3*m - 6*n - 6"},
      {"products that cancel", (n + m) * (n - m), "n*n - m*m"},
      {"atoms are equal as wholes", (n + m) / k + (m + n) / k, "2*((n + m) / k)"},
      {"a constant that overflows stays", Tree(kGreatest) + 1, "1 + 9223372036854775807"},
      {"a coefficient whose sum overflows stays", big * n + big * n,
       "4611686018427387904*n + 4611686018427387904*n"},
      {"a coefficient whose product overflows stays", big * n * 2, "2*(4611686018427387904*n)"},
  });
}

TEST_F(DimRules, DivisionOfConstants) {
  made({
      {"7 / 2", Tree(7) / 2, "3"},
      {"-7 / 2", Tree(-7) / 2, "-4"},
      {"7 / -2", Tree(7) / -2, "-4"},
      {"-7 / -2", Tree(-7) / -2, "3"},
      {"6 / -2", Tree(6) / -2, "-3"},
      {"7 % 2", Tree(7) % 2, "1"},
      {"-7 % 2", Tree(-7) % 2, "1"},
      {"7 % -2", Tree(7) % -2, "-1"},
      {"-7 % -2", Tree(-7) % -2, "-1"},
      {"-6 % 2", Tree(-6) % 2, "0"},
      {"by -1", Tree(kLeast) % -1, "0"},
      {"a quotient that overflows stays", Tree(kLeast) / -1, "-9223372036854775808 / (-1)"},
  });
  // No value, so nothing to compare.
  EXPECT_EQ(to_string(dim_of(n / 0)), "n / 0");
  EXPECT_EQ(to_string(dim_of(n % 0)), "n % 0");
}

TEST_F(DimRules, DivisionTakesOutMultiples) {
  made({
      {"a quotient and its remainder", n % 7 + 7 * (n / 7), "n"},
      {"a multiple of a quotient and its remainder", 14 * m * (n / 7) + k + 2 * m * (n % 7), "2*n*m + k"},
      {"a quotient in coordinates", n % 4 + 4 * (n / 4 % 3) + 12 * (n / 12), "n"},
      {"a quotient whose remainder counts otherwise", n % 7 + 14 * (n / 7), "n % 7 + 14*(n / 7)"},
      {"by 1", n / 1, "n"},
      {"modulo 1", n % 1, "0"},
      {"of 0", 0 / n, "0"},
      {"0 modulo", 0 % n, "0"},
      {"by itself", n / n, "1"},
      {"modulo itself", n % n, "0"},
      {"what is left lies below the divisor", (4 * n + 6) / 4, "n + 1"},
      {"what is left of a modulo lies below the divisor", (4 * n + 6) % 4, "2"},
      {"constants are floored", (n - 1) / 2, "(n + 1) / 2 - 1"},
      {"constants are floored in a modulo", (n - 1) % 2, "(n + 1) % 2"},
      {"coefficients are truncated", (n - 3 * m) / 2, "(n - m) / 2 - m"},
      {"coefficients are truncated in a modulo", (n - 3 * m) % 2, "(n - m) % 2"},
      {"a coefficient below the divisor stays", (n - m) / 2, "(n - m) / 2"},
      {"by a product", (n * m * k + x) / (m * k), "n + x / (m*k)"},
      {"by a product with a coefficient", (6 * n * m + x) / (2 * m), "3*n + x / (2*m)"},
      {"modulo a product",
       (n * m * k + x) % (m * k),
       "x % (m*k)",
       {},
       {{(n * m * k + x) / (m * k), n + x / (m * k)}}},
      {"by a sum", (k * (n + 1) + y) / (n + 1), "k + y / (n + 1)"},
      {"modulo a sum",
       (k * (n + 1) + y) % (n + 1),
       "y % (n + 1)",
       {},
       {{(k * (n + 1) + y) / (n + 1), k + y / (n + 1)}}},
      {"a constant over a variable stays", (n - 1) / n, "-1 / n + 1"},
      {"a quotient that overflows is left to the division", (kLeast * n * n + m) / (n - 1),
       "(m - 9223372036854775808*n*n) / (n - 1)"},
  });
  made_for_all({
      {"the divisor's multiples go in front",
       (x * k + y) / k,
       x + y / k,
       {{k, 4}},
       {lower(k, 1)},
       "x + y / 4"},
      {"some multiples of the divisor go in front",
       (h * x + y) / k,
       m * x + ((h - m * k) * x + y) / k,
       {{h, -3}, {m, -1}, {k, 2}},
       {},
       "(y - x) / 2 - x"},
      {"the divisor's multiples have no part in a modulo",
       (x * k + y) % k,
       y % k,
       {{k, 4}},
       {lower(k, 1)},
       "y % 4",
       {{(x * k + y) / k, x + y / k}}},
      {"for a negative divisor too",
       (x * k + y) / k,
       x + (0 - y) / (0 - k),
       {{k, -4}},
       {nonnegative(-1 - k)},
       "x + -y / 4"},
  });
}

TEST_F(DimRules, NegativeDivisors) {
  made({
      {"by a negated variable", n / (0 - m), "-n / m"},
      {"by a negated product", (n + 3) / (-2 * m), "(-n - 3) / (2*m)"},
      {"modulo a negated variable", n % (0 - m), "-(-n % m)", {}, {{n / (0 - m), (0 - n) / m}}},
      {"by -1", n / -1, "-n"},
      {"modulo -1", n % -1, "0"},
      {"a difference keeps its sign", n / (h - m), "n / (h - m)"},
      {"a constant in a modulo", (4 * n + 3) % -4, "-1"},
      {"a negated constant", (4 * n + 3) / -4, "-n - 1"},
  });
  made_for_all({
      {"a divisor's sign goes to the dividend",
       n / k,
       (0 - n) / (0 - k),
       {{k, -2}},
       {nonnegative(-1 - k)},
       "-n / 2"},
      {"the sign of a modulo is its divisor's",
       n % k,
       0 - (0 - n) % (0 - k),
       {{k, -2}},
       {nonnegative(-1 - k)},
       "-(-n % 2)",
       {{n / k, (0 - n) / (0 - k)}}},
  });
}

TEST_F(DimRules, DivisionCancelsCommonFactors) {
  made({
      {"an atom", n * k / (m * k), "n / m"},
      {"an atom of a modulo", n * k % (m * k), "k*(n % m)", {}, {{n * k / (m * k), n / m}}},
      {"a constant of a product", 4 * n / (6 * m), "2*n / (3*m)"},
      {"a constant of a product's modulo",
       4 * n % (6 * m),
       "2*(2*n % (3*m))",
       {},
       {{4 * n / (6 * m), 2 * n / (3 * m)}}},
      {"of every term", (2 * n + 4 * m) / (6 * k), "(n + 2*m) / (3*k)"},
      {"not of all terms but one", (2 * n + 3 * m + 4 * k) / 8, "(2*n + 3*m + 4*k) / 8"},
      {"the constant term keeps it where the divisor is symbolic", (2 * n + 1) / (2 * m),
       "(2*n + 1) / (2*m)"},
      {"of a sum", n * k / (n * m + n), "k / (m + 1)"},
      {"over a factor left alone", 2 * n / (4 * n), "0"},
      {"a constant in the modulo of a negative divisor", (6 * n + 5) % -9, "-3*((1 - 2*n) % 3) - 1"},
      {"once more after what is taken out", (6 * n + 4 * m + 2) / 4, "n + m + (n + 1) / 2"},
      {"once more after what is taken out of a modulo", (6 * n + 4 * m + 2) % 4, "2*((n + 1) % 2)"},
      {"what is left of a constant goes away", (2 * n + 1) / 2, "n"},
  });
  made_for_all({
      {"a constant factor, and the constant's own multiples of it",
       (h * x + y) / (h * k),
       (x + y / h) / k,
       {{h, 3}, {k, 4}, {y, 5}},
       {lower(h, 1), lower(k, 1)},
       "(x + 1) / 4"},
      {"a constant factor in a modulo",
       (h * x + y) % (h * k),
       h * ((x + y / h) % k) + y % h,
       {{h, 3}, {k, 4}, {y, 5}},
       {lower(h, 1), lower(k, 1)},
       "3*((x + 1) % 4) + 2",
       {{(h * x + y) / (h * k), (x + y / h) / k}}},
  });
}

TEST_F(DimRules, DivisionsNest) {
  made({
      {"a negative constant between", (n / 2 - 1) / 3, "(n + 4) / 6 - 1"},
      {"not with a coefficient", 2 * (n / 2) / 3, "2*(n / 2) / 3"},
      {"not with another term", (n / 2 + m) / 3, "(m + n / 2) / 3"},
      {"not with another term after it", (n / 2 + (m + 1) / 5) / 3, "(n / 2 + (m + 1) / 5) / 3"},
      {"not by a variable within", n / m / 2, "n / m / 2"},
      {"not by a variable without", n / 2 / m, "n / 2 / m"},
      {"not where the divisors' product overflows", n / (int64_t{1} << 32) / (int64_t{1} << 32),
       "n / 4294967296 / 4294967296"},
      {"after what is taken out", (3 * m + n / 2) / 3, "m + n / 6"},
      {"over a modulo's own divisor", (n % 6) / 6, "0"},
      {"not over less", n % 7 / 6, "n % 7 / 6"},
      {"not over a variable modulo", n % m / 6, "n % m / 6"},
  });
  made_for_all({
      {"quotients of quotients",
       (x / k + y) / h,
       (x + k * y) / (k * h),
       {{k, 2}, {y, 1}, {h, 3}},
       {lower(k, 1), lower(h, 1)},
       "(x + 2) / 6"},
      {"a modulo over no less than its divisor",
       x % k / h,
       Tree(0),
       {{k, 3}, {h, 6}},
       {lower(k, 1), nonnegative(h - k)},
       "0"},
  });
}

TEST_F(DimRules, ModulosNest) {
  made({
      {"a modulo's own divisor", n % 6 % 6, "n % 6"},
      {"within a sum", (n % 6 + m) % 3, "(n + m) % 3"},
      {"with a coefficient", (2 * (n % 6) + m) % 3, "(2*n + m) % 3"},
      {"several", (n % 6 + 2 * (m % 3) + k) % 3, "(n + 2*m + k) % 3"},
      {"not of a divisor that is no multiple", (n % 6 + m) % 4, "(m + n % 6) % 4"},
      {"not of a product", m * (n % 6) % 3, "m*(n % 6) % 3"},
      {"not of a smaller one in a sum", (n % 3 + m) % 6, "(m + n % 3) % 6"},
      {"not of a variable one", n % m % 3, "n % m % 3"},
      {"under a common factor", 2 * (n % 6) % 6, "2*(n % 3)"},
  });
  made_for_all({
      {"of a modulo of no more",
       x % k % h,
       x % k,
       {{k, 3}, {h, 6}},
       {lower(k, 1), nonnegative(h - k)},
       "x % 3"},
      {"of a multiple of a modulo of a multiple",
       (m * (x % (h * k)) + y) % k,
       (m * x + y) % k,
       {{h, 2}, {k, 3}, {m, 2}},
       {lower(h, 1), lower(k, 1)},
       "(2*x + y) % 3",
       {{(m * x + y) / k, m * h * (x / (h * k)) + (m * (x % (h * k)) + y) / k}}},
      {"of a modulo of a multiple",
       (x % (h * k) + y) % k,
       (x + y) % k,
       {{h, 2}, {k, 3}, {y, 1}},
       {lower(h, 1), lower(k, 1)},
       "(x + 1) % 3",
       {{(x + y) / k, h * (x / (h * k)) + (x % (h * k) + y) / k}}},
  });
}

TEST_F(DimRules, MinAndMax) {
  made({
      {"min of equals", min(n, n), "n"},
      {"max of equals", max(n, n), "n"},
      {"min a constant apart", min(n, n - 1), "n - 1"},
      {"min a constant apart, the first", min(n + m, m + n + 2), "n + m"},
      {"max a constant apart", max(n, n - 1), "n"},
      {"max a constant apart, the second", max(n + m, m + n + 2), "n + m + 2"},
      {"of constants", max(min(Tree(2), 3), 1), "2"},
      {"a difference that overflows decides nothing", min(n + kGreatest, n + kLeast),
       "min(n + 9223372036854775807, n - 9223372036854775808)"},
      {"nested min", min(n, min(m, k)), "min(k, m, n)"},
      {"nested max", max(max(n, m), max(k, n + 1)), "max(k, m, n + 1)"},
      {"nested, an operand decides", min(min(n, 5), 3), "min(n, 3)"},
      {"max absorbs min", max(n, min(n, m)), "n"},
      {"min absorbs max", min(max(m, n), n), "n"},
      {"absorbed among others", max(max(n, k), min(n, m)), "max(k, n)"},
      {"min of max stays", min(n, max(m, k)), "min(max(k, m), n)"},
  });
}

TEST_F(DimRules, Broadcast) {
  made({
      {"1 on the left", broadcast(1, n), "n"},
      {"1 on the right", broadcast(n, 1), "n"},
      {"of 1s", broadcast(Tree(1), 1), "1"},
      {"of equals", broadcast(n, n), "n"},
      {"commutes", broadcast(m, n), "broadcast(m, n)"},
      {"nests to one side", broadcast(n, broadcast(m, k)), "broadcast(broadcast(m, n), k)"},
      {"an operand twice", broadcast(broadcast(n, m), broadcast(m, 1)), "broadcast(m, n)"},
      {"of a constant and a variable", broadcast(3, n), "broadcast(n, 3)"},
  });
}

/// 2*x0 + 2*x1 + ..., and its text.
std::pair<Tree, std::string> long_sum(int terms) {
  Tree sum = 0;
  std::string out;
  for (int at = 0; at < terms; ++at) {
    const std::string name = "x" + std::to_string(at);
    sum = sum + 2 * Tree(dim_var(name));
    out += (at == 0 ? "2*" : " + 2*") + name;
  }
  return {sum, out};
}

TEST_F(DimRules, WorkIsBounded) {
  auto [many, many_text] = long_sum(23);
  auto [more, more_text] = long_sum(129);
  made({
      {"a product of too many terms stays", many * many, "(" + many_text + ")*(" + many_text + ")"},
      {"a division of too many steps stays", more / 2, "(" + more_text + ") / 2"},
      {"a modulo of too many steps stays", more % 2, "(" + more_text + ") % 2"},
  });
}

// --- under facts -----------------------------------------------------------------------------------------

TEST_F(DimRules, QuotientsAndRemaindersRecombine) {
  simplified({
      {"by a constant", (x / 4) * 4 + x % 4, "x"},
      {"by a variable", (x / m) * m + x % m, "x"},
      {"of a quotient", (x / 2 / 3) * 3 + x / 2 % 3, "x / 2"},
      {"times a constant, with a rest", (x / 4) * 8 + (x % 4) * 2 + n, "n + 2*x"},
      {"times a variable", (x / m) * m * k + (x % m) * k, "k*x"},
      {"negated", 0 - (x / m) * m - x % m, "-x"},
      {"not of another multiple", (x / m) * m + (x % m) * 2, "m*(x / m) + 2*(x % m)"},
      {"not of another dividend", (y / m) * m + x % m, "m*(y / m) + x % m"},
      {"a quotient whose multiples are taken out", ((2 * x + 1) / 4) * 4 + (2 * x + 1) % 4, "2*x + 1"},
      {"the second of two", (x / 4) * 3 + x % 4 + (y / 3) * 3 + y % 3, "y + 3*(x / 4) + x % 4"},
      {"both of two", (x / 4) * 4 + x % 4 + (y / 3) * 3 + y % 3, "x + y"},
  });
}

TEST_F(DimRules, OperandsThatAnotherDecides) {
  simplified({
      {"min at an index's end", min(i, n - 1), "i", {index(i, n)}},
      {"max at an index's start", max(0, i), "i", {index(i, n)}},
      {"min of a dim and 0", min(n, 0), "0"},
      {"max of a dim and 0", max(n, 0), "n"},
      {"not below the default", max(n, 1), "max(n, 1)"},
      {"not where the lower bound is taken away", max(n, 0), "max(n, 0)", {lower(n, kLeast)}},
      {"a lower bound", max(n, 3), "n", {lower(n, 3)}},
      {"one of three", min(min(i, n), m), "min(i, m)", {index(i, n)}},
      {"two of three", max(max(i, n), 0), "n", {index(i, n)}},
      {"equal by a fact", min(n, m), "m", {equal(n, m)}},
      {"by a fact", max(n, 2 * m), "2*m", {nonnegative(2 * m - n)}},
      {"by a fact about a quotient", max(n, 8), "n", {nonnegative(n / 4 - 2)}},
      {"an index has an extent of at least 1", max(n, 1), "n", {index(i, n)}},
      {"so have its factors", max(n, 1), "n", {index(i, n * m)}},
      {"and what it is the least of", max(n, 1), "n", {index(i, min(n, m))}},
      {"and what it is broadcast of", max(n, 1), "n", {index(i, broadcast(n, m))}},
      {"a clamped extent is not clamped", max(0, n - 3), "n - 3", {index(i, max(0, n - 2))}},
      {"a clamp at 1 says nothing of what it clamps", max(n, 1), "max(n, 1)", {index(i, max(1, n))}},
      {"a divisor is not 0", max(n, 1) + x / n, "n + x / n"},
      {"an extent's divisor is not 0", max(n, 1), "n", {index(i, m / n + 1)}},
      {"a broadcast stays", broadcast(n, 3), "broadcast(n, 3)", {lower(n, 3)}},
  });
}

TEST_F(DimRules, QuotientsInRange) {
  simplified({
      {"of an index", i / n, "0", {index(i, n)}},
      {"modulo of an index", i % n, "i", {index(i, n)}},
      {"of an index by a constant", i / 4, "0", {index(i, 4)}},
      {"not at the divisor", (i + 1) / n, "(i + 1) / n", {index(i, n)}},
      {"not a modulo at the divisor", (i + 1) % n, "(i + 1) % n", {index(i, n)}},
      {"just below 0", (0 - i - 1) / n, "-1", {index(i, n)}},
      {"modulo just below 0", (0 - i - 1) % n, "n - i - 1", {index(i, n)}},
      {"just below 0 of a constant", (0 - i - 1) / 4, "-1", {index(i, 4)}},
      {"not below the divisor's negation", (0 - i - 2) / 4, "(2 - i) / 4 - 1", {index(i, 4)}},
      {"not of another's index", i % m, "i % m", {index(i, n)}},
      {"inside of a quotient's whole", (i * m + j) / m, "i", {index(i, n), index(j, m)}},
      {"inside of a modulo's", (i * m + j) % m, "j", {index(i, n), index(j, m)}, {{(i * m + j) / m, i}}},
  });
}

TEST_F(DimRules, FactorsOfDivisorsThatHoldTheRest) {
  const std::vector<Fact> inner = {index(j, m)};
  simplified({
      {"a variable factor", (x * m + j) / (m * k), "x / k", inner},
      {"a variable factor of a modulo",
       (x * m + j) % (m * k),
       "m*(x % k) + j",
       inner,
       {{(x * m + j) / (m * k), x / k}}},
      {"a constant factor", (4 * x + j) / 8, "x / 2", {index(j, 4)}},
      {"a constant factor of a modulo", (4 * x + j) % 8, "j + 4*(x % 2)", {index(j, 4)}},
      {"the rest is a modulo", (4 * x + j % 4) / 8, "x / 2"},
      {"not where the rest is no less", (4 * x + j) / 8, "(4*x + j) / 8", {index(j, 5)}},
      {"not where the rest may be negative", (4 * x + j - 1) / 8, "(4*x + j + 7) / 8 - 1", {index(j, 4)}},
      {"a cofactor that may be negative",
       (x * m + j) / (m * k),
       "(m*x + j) / (m*k)",
       {lower(k, kLeast), index(j, m)}},
      {"not by a sum", (x * m + j) / (m * k + m), "(m*x + j) / (m*k + m)", inner},
      {"of several terms", (4 * x + 4 * y + j) % 12, "j + 4*((x + y) % 3)", {index(j, 4)}},
  });
}

TEST_F(DimRules, InsideOfEveryKind) {
  const std::vector<Fact> known = {index(i, n)};
  simplified({
      {"sum", i % n + m, "m + i", known},
      {"product", 3 * m * (i % n), "3*m*i", known},
      {"quotient", (i % n) / m, "i / m", known},
      {"divisor", m / (i % n + 1), "m / (i + 1)", known},
      {"modulo", (i % n) % m, "i % m", known, {{i / n, 0}}},
      {"min", min(min(i % n, m), k), "min(i, k, m)", known},
      {"max", max(max(i % n, m), k), "max(i, k, m)", known},
      {"broadcast", broadcast(i % n, m), "broadcast(i, m)", known},
      {"one step uncovers another", max(0, i % n), "i", known},
  });
}

}  // namespace
}  // namespace quern
