#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <thread>

#include "ir/base/interned.h"
#include "ir/dim/arena.h"
#include "tests/ir/dim/dim_builder.h"

namespace quern {
namespace {

class DimForm : public ::testing::Test {
 protected:
  E n = dim_var("n"), m = dim_var("m"), k = dim_var("k"), h = dim_var("h"), r = dim_var("r");
};

TEST_F(DimForm, SumsAndProductsAreOnePointer) {
  EXPECT_TRUE(same(n + m, m + n));
  EXPECT_TRUE(same((n + m) + k, n + (k + m)));
  EXPECT_TRUE(same(n * (m + 2), 2 * n + m * n));
  EXPECT_TRUE(same((n + 1) * (n - 1), n * n - 1));
  EXPECT_TRUE(same(n - n, 0));
  EXPECT_TRUE(same(n + 0, n));
  EXPECT_TRUE(same(n * 0, 0));
  EXPECT_TRUE(same(n * 1, n));
  EXPECT_FALSE(same(n, dim_var("n")));
  std::array<Dim, 3> dims = {n, m, c(2)};
  EXPECT_TRUE(same(dim_product(dims), 2 * m * n));
  EXPECT_TRUE(same(dim_product({}), 1));
}

TEST_F(DimForm, AProductHasAnyNumberOfFactors) {
  const std::array<E, 5> factors = {n, m, k, h, r};
  const E all = n * m * k * h * r;
  for (const E& factor : factors) {
    E others = 1;
    for (const E& other : factors)
      if (other.dim != factor.dim) others = others * other;
    EXPECT_TRUE(same(all / factor, others));
    EXPECT_TRUE(same(others * factor, all));
    const std::optional<Linear> parts = linear_in(all + others, factor);
    ASSERT_TRUE(parts);
    EXPECT_TRUE(same(E(parts->coefficient), others));
    EXPECT_TRUE(same(E(parts->rest), others));
    const E& another = factor.dim == n.dim ? m : n;
    const std::optional<Linear> of_four = linear_in(others * 3, another);
    ASSERT_TRUE(of_four);
    EXPECT_TRUE(same(E(of_four->coefficient), others * 3 / another));
  }
  EXPECT_TRUE(same(all / (n * m), k * h * r));
  EXPECT_TRUE(same(all * all / (all * r), n * m * k * h));
}

TEST_F(DimForm, DivisionTakesOutMultiples) {
  EXPECT_TRUE(same(n * 2 / 2, n));
  EXPECT_TRUE(same((4 * n + 6) / 4, n + 1));
  EXPECT_TRUE(same((4 * n + m) / 4, n + m / 4));
  EXPECT_TRUE(same((n * m + k * m * h + r) / m, n + k * h + r / m));
  EXPECT_TRUE(same((n * m + r) % m, r % m));
  EXPECT_TRUE(same(n / 1, n));
  EXPECT_TRUE(same(n % 1, 0));
  EXPECT_TRUE(same(E(0) / n, 0));
  EXPECT_TRUE(same(E(0) % n, 0));
  EXPECT_TRUE(same(n / n, 1));
  EXPECT_TRUE(same(n % n, 0));
  EXPECT_TRUE(same((n - 1) / n, 1 + E(-1) / n));
  EXPECT_EQ((E(-1) / n).dim->kind, DimKind::FloorDiv);
  EXPECT_TRUE(same((k * (n + 1) + r) / (n + 1), k + r / (n + 1)));
  EXPECT_TRUE(same((k * (n + 1) + r) % (n + 1), r % (n + 1)));
}

TEST_F(DimForm, DivisionOfConstantsFloors) {
  EXPECT_TRUE(same(E(7) / 2, 3));
  EXPECT_TRUE(same(E(-7) / 2, -4));
  EXPECT_TRUE(same(E(7) / -2, -4));
  EXPECT_TRUE(same(E(-7) % 2, 1));
  EXPECT_TRUE(same(E(7) % -2, -1));
  EXPECT_TRUE(same((n - 1) / 2 + 1, (n + 1) / 2));
}

TEST_F(DimForm, DivisionNestsAndCancels) {
  EXPECT_TRUE(same(n / 2 / 3, n / 6));
  EXPECT_TRUE(same((n / 2 + 1) / 2, (n + 2) / 4));
  EXPECT_TRUE(same((2 * n) / 4, n / 2));
  EXPECT_TRUE(same((2 * n + 1) / 4, n / 2));
  EXPECT_TRUE(same((2 * n + 1) % 4, 2 * (n % 2) + 1));
  EXPECT_TRUE(same((n * k) / (m * k), n / m));
  EXPECT_TRUE(same((n * k) % (m * k), k * (n % m)));
  EXPECT_TRUE(same((n % 6) % 3, n % 3));
  EXPECT_TRUE(same((n % 3) % 6, n % 3));
  EXPECT_TRUE(same((n % 3) / 6, 0));
  EXPECT_TRUE(same((n + m % 6) % 3, (n + m) % 3));
  EXPECT_TRUE(same(n / -2, (0 - n) / 2));
}

TEST_F(DimForm, MinAndMax) {
  EXPECT_TRUE(same(min(n, n), n));
  EXPECT_TRUE(same(min(n, n - 1), n - 1));
  EXPECT_TRUE(same(max(n, n - 1), n));
  EXPECT_TRUE(same(min(n, min(m, k)), min(min(k, m), n)));
  EXPECT_TRUE(same(min(3, min(n, 5)), min(n, 3)));
  EXPECT_TRUE(same(max(n, min(n, m)), n));
  EXPECT_TRUE(same(min(2, 3), 2));
  EXPECT_EQ(min(n, min(m, k)).dim->args.size(), 3u);
}

TEST_F(DimForm, Broadcast) {
  EXPECT_TRUE(same(broadcast(n, n), n));
  EXPECT_TRUE(same(broadcast(1, n), n));
  EXPECT_TRUE(same(broadcast(n, 1), n));
  EXPECT_TRUE(same(broadcast(1, 1), 1));
  EXPECT_TRUE(same(broadcast(n, m), broadcast(m, n)));
  EXPECT_TRUE(same(broadcast(broadcast(n, m), k), broadcast(n, broadcast(k, m))));
  EXPECT_TRUE(same(broadcast(broadcast(n, m), n), broadcast(n, m)));
  EXPECT_EQ(broadcast(2, 3).dim->kind, DimKind::Broadcast);
  EXPECT_FALSE(evaluate(broadcast(2, 3), nothing));
}

TEST_F(DimForm, AnyAbsorbs) {
  E any = dim_any();
  EXPECT_TRUE(same(any, dim_any()));
  for (E d : {any + n, n - any, any - any, any * 0, any / 2, n % any, min(any, 1), max(n, any),
              broadcast(1, any), broadcast(any, any), broadcast(n, any)}) {
    EXPECT_TRUE(same(d, any));
  }
  EXPECT_TRUE(any.dim->has_any);
  EXPECT_FALSE(evaluate(any, nothing));
}

TEST_F(DimForm, OverflowIsKeptAsItStands) {
  const E big = std::numeric_limits<int64_t>::max();
  const E least = std::numeric_limits<int64_t>::min();
  E sum = big + 1;
  EXPECT_EQ(sum.dim->kind, DimKind::Sum);
  EXPECT_FALSE(evaluate(sum, nothing));
  EXPECT_TRUE(same(sum, 1 + big));
  EXPECT_TRUE(same(sum - sum, 0));
  EXPECT_TRUE(same(sum * n + sum * m, sum * (n + m)));
  E product = big * n * (big * m);
  EXPECT_EQ(product.dim->kind, DimKind::Product);
  EXPECT_FALSE(evaluate(product, [](Dim) { return 1; }));
  EXPECT_TRUE(same(product - product, 0));
  EXPECT_FALSE(evaluate(least / -1, nothing));
  EXPECT_FALSE(evaluate(n / 0, [](Dim) { return 1; }));
  EXPECT_FALSE(prove_nonnegative(sum, {}));
  EXPECT_FALSE(prove_nonnegative(product, {}));
  EXPECT_EQ(text(least), "-9223372036854775808");
  EXPECT_EQ(text(n + least), "n - 9223372036854775808");
}

TEST_F(DimForm, Text) {
  EXPECT_EQ(text((h - r) / 2 + 1), "(h - r) / 2 + 1");
  EXPECT_EQ(text(n * 2), "2*n");
  EXPECT_EQ(text(m * n), "m*n");
  EXPECT_EQ(text(min(m, n - 1)), "min(m, n - 1)");
  EXPECT_EQ(text(1 - n), "1 - n");
  EXPECT_EQ(text(m - n), "m - n");
  EXPECT_EQ(text(0 - n), "-n");
  EXPECT_EQ(text(0 - n - 2 * m - 3), "-2*m - n - 3");
  EXPECT_EQ(text(0 - (n / 2)), "-(n / 2)");
  EXPECT_EQ(text(m - n / 2), "m - n / 2");
  EXPECT_EQ(text((0 - n) / 2), "-n / 2");
  EXPECT_EQ(text(n / (m + 1)), "n / (m + 1)");
  EXPECT_EQ(text(n / (m * k)), "n / (k*m)");
  EXPECT_EQ(text(n % 4 * m), "m*(n % 4)");
  EXPECT_EQ(text(n % 4 / m), "n % 4 / m");
  EXPECT_EQ(text(dim_any()), "?");
  EXPECT_EQ(text(-3), "-3");
  EXPECT_EQ(shape_to_string({}), "()");
  EXPECT_EQ(shape_to_string(std::array<Dim, 1>{c(3)}), "(3,)");
  EXPECT_EQ(shape_to_string(std::array<Dim, 3>{n, c(64), dim_any()}), "(n, 64, ?)");
}

TEST_F(DimForm, TextDoesNotDependOnWhichWasMadeFirst) {
  const E first = dim_var("b"), second = dim_var("a"), later = dim_var("b");
  for (const E& b : {first, later}) {
    const E& a = second;
    EXPECT_EQ(text(b * a * 3), "3*a*b");
    EXPECT_EQ(text(b - a + b * a + 2), "a*b + b + 2 - a");
    EXPECT_EQ(text(b * b + 2 * a + b), "b*b + 2*a + b");
    EXPECT_EQ(text((b + 1) / 2 * a), "a*((b + 1) / 2)");
  }
}

TEST_F(DimForm, NamesAreCopied) {
  std::string name = "height";
  Dim var = dim_var(name);
  name = "xxxxxx";
  EXPECT_EQ(to_string(var), "height");
}

TEST_F(DimForm, LinearIn) {
  auto check = [&](E d, E coefficient, E rest) {
    std::optional<Linear> parts = linear_in(d, n);
    ASSERT_TRUE(parts) << text(d);
    EXPECT_TRUE(same(parts->coefficient, coefficient)) << text(d);
    EXPECT_TRUE(same(parts->rest, rest)) << text(d);
  };
  check(3 * n + m, 3, m);
  check(n * m - n + k / 2, m - 1, k / 2);
  check(m, 0, m);
  check(n, 1, 0);
  EXPECT_FALSE(linear_in(n * n, n));
  EXPECT_FALSE(linear_in(n / 2, n));
  EXPECT_FALSE(linear_in(n + min(n, m), n));
  EXPECT_FALSE(linear_in(n * (n % 2), n));
  EXPECT_FALSE(linear_in(dim_any(), n));
}

TEST_F(DimForm, Variables) {
  int count = 0;
  for_each_var(n * n + m / n, [&](Dim) { ++count; });
  EXPECT_EQ(count, 4);
  EXPECT_TRUE(contains_var(m / (n + 1), n));
  EXPECT_FALSE(contains_var(m / (n + 1), k));
  EXPECT_TRUE(same(substitute(n * 2 / m, {{m, c(2)}}), n));
  EXPECT_TRUE(same(substitute(n + m, {{n, m}, {m, n}}), n + m));
}

// A suite of its own: those of DimForm share a process, and are not run under the thread sanitizer.
class DimThreads : public DimForm {};

TEST_F(DimThreads, ShareNodes) {
  std::array<Dim, 4> results{};
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (Dim& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) result = (n * i + m) / (k + i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Dim result : results) EXPECT_EQ(result, results[0]);
}

// --- unknowns --------------------------------------------------------------------------------------------

TEST_F(DimForm, ScratchConsesAndResolves) {
  DimScratch scratch;
  EXPECT_EQ(DimScratch::current(), &scratch);
  E x = scratch.fresh();
  E y = scratch.fresh();
  EXPECT_FALSE(same(x, y));
  EXPECT_TRUE((x + n).dim->has_infer);
  EXPECT_TRUE(same(x + n, n + x));
  EXPECT_TRUE(same(x * 2 / 2, x));
  EXPECT_FALSE((x - x).dim->has_infer);
  E d = (x + y) / 2;
  scratch.bind(x, y + 2 * n);
  EXPECT_TRUE(same(scratch.resolve(d), y + n));
  scratch.bind(y, m);
  EXPECT_TRUE(same(scratch.resolve(d), m + n));
  EXPECT_FALSE(scratch.resolve(d)->has_infer);
  EXPECT_TRUE(same(scratch.resolve(n), n));
  EXPECT_EQ(text(scratch.fresh()), "_");
  E z = scratch.fresh();
  scratch.bind(z, dim_any());
  EXPECT_TRUE(same(scratch.resolve(z + 1), dim_any()));
}

TEST(DimArenaTest, OwnsWhatIsMadeInItAndFindsWhatIsThere) {
  const E n = dim_var("n"), twice = n * 2;
  DimArena outer, inner;
  const DimArena::Use use(outer);
  const size_t before = interned_dims().count;
  const E i = dim_var("i"), sum = i * n * i + n;
  EXPECT_TRUE(i.dim->in_arena && sum.dim->in_arena);
  EXPECT_TRUE(same(n * 2, twice));
  EXPECT_TRUE(same(i * n * i + n, sum));
  {
    const DimArena::Use nested(inner);
    EXPECT_TRUE(same(i * n * i + n, sum));
  }
  EXPECT_EQ(interned_dims().count, before);
  const DimArena::Outside outside;
  EXPECT_FALSE((n * n * n).dim->in_arena);
  EXPECT_GT(interned_dims().count, before);
}

TEST(DimScratchTest, Nests) {
  DimScratch outer;
  {
    DimScratch inner;
    EXPECT_EQ(DimScratch::current(), &inner);
  }
  EXPECT_EQ(DimScratch::current(), &outer);
}

}  // namespace
}  // namespace quern
