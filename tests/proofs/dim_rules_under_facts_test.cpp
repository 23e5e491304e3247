// The rules by which dims are simplified under facts.

#include <gtest/gtest.h>

#include "tests/proofs/dim_rules.h"

namespace quern {
namespace {

TEST_F(DimRules, QuotientsAndRemaindersRecombine) {
  simplified({
      {"by a constant", (x / 4) * 4 + x % 4, "x"},
      {"by a variable", (x / m) * m + x % m, "x"},
      {"of a quotient", (x / 2 / 3) * 3 + x / 2 % 3, "x / 2"},
      {"times a constant, with a rest", (x / 4) * 8 + (x % 4) * 2 + n, "2*x + n"},
      {"times a variable", (x / m) * m * k + (x % m) * k, "k*x"},
      {"negated", 0 - (x / m) * m - x % m, "-x"},
      {"not of another multiple", (x / m) * m + (x % m) * 2, "m*(x / m) + 2*(x % m)"},
      {"not of another dividend", (y / m) * m + x % m, "m*(y / m) + x % m"},
      {"a quotient whose multiples are taken out", ((2 * x + 1) / 4) * 4 + (2 * x + 1) % 4, "2*x + 1"},
      {"the second of two", (x / 4) * 3 + x % 4 + (y / 3) * 3 + y % 3, "3*(x / 4) + x % 4 + y"},
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
      {"a divisor is not 0", max(n, 1) + x / n, "x / n + n"},
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
      {"a constant factor of a modulo", (4 * x + j) % 8, "4*(x % 2) + j", {index(j, 4)}},
      {"the rest is a modulo", (4 * x + j % 4) / 8, "x / 2"},
      {"not where the rest is no less", (4 * x + j) / 8, "(4*x + j) / 8", {index(j, 5)}},
      {"not where the rest may be negative", (4 * x + j - 1) / 8, "(4*x + j + 7) / 8 - 1", {index(j, 4)}},
      {"a cofactor that may be negative",
       (x * m + j) / (m * k),
       "(m*x + j) / (k*m)",
       {lower(k, kLeast), index(j, m)}},
      {"not by a sum", (x * m + j) / (m * k + m), "(m*x + j) / (k*m + m)", inner},
      {"of several terms", (4 * x + 4 * y + j) % 12, "4*((x + y) % 3) + j", {index(j, 4)}},
  });
}

TEST_F(DimRules, InsideOfEveryKind) {
  const std::vector<Fact> known = {index(i, n)};
  simplified({
      {"sum", i % n + m, "i + m", known},
      {"product", 3 * m * (i % n), "3*i*m", known},
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
