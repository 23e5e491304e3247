// The rules by which dims are made canonical.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/proofs/dim_rules.h"

namespace quern {
namespace {

constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

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
      {"factors are merged in order", m * n * m * n, "m*m*n*n"},
      {"products are distributed", (n + 1) * (m - 2) * 3, "3*m*n + 3*m - 6*n - 6"},
      {"products that cancel", (n + m) * (n - m), "n*n - m*m"},
      {"atoms are equal as wholes", (n + m) / k + (m + n) / k, "2*((m + n) / k)"},
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
      {"a multiple of a quotient and its remainder", 14 * m * (n / 7) + k + 2 * m * (n % 7), "2*m*n + k"},
      {"a quotient in coordinates", n % 4 + 4 * (n / 4 % 3) + 12 * (n / 12), "n"},
      {"a quotient whose remainder counts otherwise", n % 7 + 14 * (n / 7), "14*(n / 7) + n % 7"},
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
      {"by a product", (n * m * k + x) / (m * k), "x / (k*m) + n"},
      {"by a product with a coefficient", (6 * n * m + x) / (2 * m), "3*n + x / (2*m)"},
      {"modulo a product",
       (n * m * k + x) % (m * k),
       "x % (k*m)",
       {},
       {{(n * m * k + x) / (m * k), n + x / (m * k)}}},
      {"by a sum", (k * (n + 1) + y) / (n + 1), "y / (n + 1) + k"},
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
       "y / 4 + x"},
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
       "-y / 4 + x"},
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
      {"of every term", (2 * n + 4 * m) / (6 * k), "(2*m + n) / (3*k)"},
      {"not of all terms but one", (2 * n + 3 * m + 4 * k) / 8, "(4*k + 3*m + 2*n) / 8"},
      {"the constant term keeps it where the divisor is symbolic", (2 * n + 1) / (2 * m),
       "(2*n + 1) / (2*m)"},
      {"of a sum", n * k / (n * m + n), "k / (m + 1)"},
      {"over a factor left alone", 2 * n / (4 * n), "0"},
      {"a constant in the modulo of a negative divisor", (6 * n + 5) % -9, "-3*((1 - 2*n) % 3) - 1"},
      {"once more after what is taken out", (6 * n + 4 * m + 2) / 4, "(n + 1) / 2 + m + n"},
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
      {"not with another term", (n / 2 + m) / 3, "(n / 2 + m) / 3"},
      {"not with another term after it", (n / 2 + (m + 1) / 5) / 3, "((m + 1) / 5 + n / 2) / 3"},
      {"not by a variable within", n / m / 2, "n / m / 2"},
      {"not by a variable without", n / 2 / m, "n / 2 / m"},
      {"not where the divisors' product overflows", n / (int64_t{1} << 32) / (int64_t{1} << 32),
       "n / 4294967296 / 4294967296"},
      {"after what is taken out", (3 * m + n / 2) / 3, "n / 6 + m"},
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
      {"within a sum", (n % 6 + m) % 3, "(m + n) % 3"},
      {"with a coefficient", (2 * (n % 6) + m) % 3, "(2*n + m) % 3"},
      {"several", (n % 6 + 2 * (m % 3) + k) % 3, "(2*m + k + n) % 3"},
      {"not of a divisor that is no multiple", (n % 6 + m) % 4, "(n % 6 + m) % 4"},
      {"not of a product", m * (n % 6) % 3, "m*(n % 6) % 3"},
      {"not of a smaller one in a sum", (n % 3 + m) % 6, "(n % 3 + m) % 6"},
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
      {"min a constant apart, the first", min(n + m, m + n + 2), "m + n"},
      {"max a constant apart", max(n, n - 1), "n"},
      {"max a constant apart, the second", max(n + m, m + n + 2), "m + n + 2"},
      {"of constants", max(min(Tree(2), 3), 1), "2"},
      {"a difference that overflows decides nothing", min(n + kGreatest, n + kLeast),
       "min(n + 9223372036854775807, n - 9223372036854775808)"},
      {"a min and a max of the same", h + min(n, 2 * m) + max(2 * m, n), "2*m + h + n"},
      {"a min and a max of what is left", 2 - min(n, 1) - max(n - 1, 0), "2 - n"},
      {"a min and a max of a sum", k + min(n, m + 1) + max(h - n, h - m - 1), "h + k"},
      {"a min and a max apart", min(n, m) - max(n, m), "min(m, n) - max(m, n)"},
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
    const std::string name = fmt::format("x{:03}", at);  // texts are in the order of names
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

}  // namespace
}  // namespace quern
