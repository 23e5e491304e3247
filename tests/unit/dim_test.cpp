#include "ir/dim.h"

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <limits>
#include <random>
#include <thread>

namespace quern {
namespace {

Dim c(int64_t value) { return dim_const(value); }

/// Arithmetic on dims as it is written in the language.
struct E {
  Dim dim;
  E(Dim d) : dim(d) {}
  E(int64_t value) : dim(dim_const(value)) {}
  E(int value) : dim(dim_const(value)) {}
  // A template, so that the built-in arithmetic of pointers is no candidate.
  template <std::same_as<Dim> T>
  operator T() const {
    return dim;
  }
};
E operator+(E a, E b) { return dim_add(a, b); }
E operator-(E a, E b) { return dim_sub(a, b); }
E operator*(E a, E b) { return dim_mul(a, b); }
E operator/(E a, E b) { return dim_floordiv(a, b); }
E operator%(E a, E b) { return dim_floormod(a, b); }
E min(E a, E b) { return dim_min(a, b); }
E max(E a, E b) { return dim_max(a, b); }
E broadcast(E a, E b) { return dim_broadcast(a, b); }
bool same(E a, E b) { return a.dim == b.dim; }
std::string text(E e) { return to_string(e.dim); }

std::optional<int64_t> nothing(Dim) { return std::nullopt; }

// --- canonical form --------------------------------------------------------------------------------------

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
  EXPECT_EQ(text(m * n), "n*m");
  EXPECT_EQ(text(min(m, n - 1)), "min(m, n - 1)");
  EXPECT_EQ(text(1 - n), "1 - n");
  EXPECT_EQ(text(m - n), "m - n");
  EXPECT_EQ(text(0 - n), "-n");
  EXPECT_EQ(text(0 - n - 2 * m - 3), "-n - 2*m - 3");
  EXPECT_EQ(text(0 - (n / 2)), "-(n / 2)");
  EXPECT_EQ(text(m - n / 2), "m - n / 2");
  EXPECT_EQ(text((0 - n) / 2), "-n / 2");
  EXPECT_EQ(text(n / (m + 1)), "n / (m + 1)");
  EXPECT_EQ(text(n / (m * k)), "n / (m*k)");
  EXPECT_EQ(text(n % 4 * m), "m*(n % 4)");
  EXPECT_EQ(text(n % 4 / m), "n % 4 / m");
  EXPECT_EQ(text(dim_any()), "?");
  EXPECT_EQ(text(-3), "-3");
  EXPECT_EQ(shape_to_string({}), "()");
  EXPECT_EQ(shape_to_string(std::array<Dim, 1>{c(3)}), "(3,)");
  EXPECT_EQ(shape_to_string(std::array<Dim, 3>{n, c(64), dim_any()}), "(n, 64, ?)");
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

TEST_F(DimForm, ThreadsShareNodes) {
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

TEST(DimScratchTest, Nests) {
  DimScratch outer;
  {
    DimScratch inner;
    EXPECT_EQ(DimScratch::current(), &inner);
  }
  EXPECT_EQ(DimScratch::current(), &outer);
}

// --- proofs ----------------------------------------------------------------------------------------------

class DimProof : public ::testing::Test {
 protected:
  E n = dim_var("n"), m = dim_var("m"), h = dim_var("h"), r = dim_var("r"), d = dim_var("d"),
    s = dim_var("s");
  E i = dim_var("i"), j = dim_var("j"), x = dim_var("x"), y = dim_var("y");
  Facts facts;

  void in_bounds(E index, E extent) {
    EXPECT_TRUE(prove_nonnegative(index, facts)) << text(index) << " >= 0";
    EXPECT_TRUE(prove_less(index, extent, facts)) << text(index) << " < " << text(extent);
    EXPECT_FALSE(prove_less(index, extent - 1, facts)) << text(index) << " < " << text(extent - 1);
    EXPECT_FALSE(prove_nonnegative(index - 1, facts)) << text(index) << " >= 1";
  }
};

TEST_F(DimProof, Rigid) {
  EXPECT_TRUE(prove_nonnegative(n, facts));
  EXPECT_TRUE(prove_nonnegative(n * m + 2, facts));
  EXPECT_FALSE(prove_nonnegative(n - 1, facts));
  EXPECT_FALSE(prove_nonnegative(n - m, facts));
  facts.add_lower(m, 1);
  EXPECT_TRUE(prove_nonnegative(n * m - n, facts));
  facts.add_lower(x, std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(prove_nonnegative(x, facts));
  EXPECT_FALSE(prove_nonnegative(x * x - x, facts));
  EXPECT_FALSE(prove_nonnegative(dim_any(), facts));
}

TEST_F(DimProof, FactsAsTold) {
  facts.add_lower(n, 3);
  facts.add_lower(n, 2);
  EXPECT_EQ(facts.lower_of(n), 3);
  EXPECT_EQ(facts.lower_of(m), 0);
  facts.add_index(i, max(0, n - 2));
  ASSERT_TRUE(facts.extent_of(i));
  EXPECT_TRUE(same(*facts.extent_of(i), n - 2));
  EXPECT_EQ(facts.extent_of(j), nullptr);
}

TEST_F(DimProof, ExtentsOfIterationsArePositive) {
  facts.add_index(i, n * m);
  EXPECT_TRUE(prove_nonnegative(n - 1, facts));
  EXPECT_TRUE(prove_nonnegative(m - 1, facts));
  EXPECT_FALSE(prove_nonnegative(n - 2, facts));
  facts.add_index(j, (h - r) / 2 + 1);
  EXPECT_TRUE(prove_less_equal(r, h, facts));
  EXPECT_FALSE(prove_less(r, h, facts));
}

TEST_F(DimProof, Convolution) {
  facts.add_index(j, r);
  for (int stride : {1, 2, 3, 4}) {
    facts.add_index(y, (h - r) / stride + 1);
    in_bounds(y * stride + j, h);
    facts.add_index(y, max(0, (h - r) / stride + 1));
    in_bounds(y * stride + j, h);
  }
  facts.add_index(y, (h - (r - 1) * 2 - 1) / 3 + 1);
  in_bounds(y * 3 + j * 2, h);
  facts.add_index(y, (h + 2 - r) / 2 + 1);
  in_bounds(y * 2 + j, h + 2);
  EXPECT_FALSE(prove_nonnegative(y * 2 + j - 1, facts));
}

TEST_F(DimProof, ConvolutionWithSymbolicStride) {
  facts.add_index(j, r);
  facts.add_index(y, (h - r) / s + 1);
  EXPECT_TRUE(prove_less(y * s + j, h, facts));
  EXPECT_FALSE(prove_less(y * s + j, h - 1, facts));
}

TEST_F(DimProof, GroupedConvolution) {
  E ci = dim_var("ci"), q = dim_var("q"), g = dim_var("g"), o = dim_var("o");
  facts.add_index(j, ci);
  facts.add_index(q, 4 * m);
  in_bounds((q / m) * ci + j, 4 * ci);
  facts.add_index(q, g * m);
  in_bounds((q / m) * ci + j, g * ci);
  facts.add_index(q, o);
  in_bounds((q / (o / 1)) * ci + j, ci);
  // o/g groups of outputs, where g need not divide o.
  EXPECT_FALSE(prove_less((q / (o / 4)) * ci + j, 4 * ci, facts));
}

TEST_F(DimProof, StridedSlice) {
  E b = dim_var("b"), e = dim_var("e");
  facts.add_lower(b, std::numeric_limits<int64_t>::min());
  facts.add_lower(e, std::numeric_limits<int64_t>::min());
  E from = min(max(0, b), d);
  E to = max(0, min(e, d));
  for (int stride : {1, 2, 3}) {
    facts.add_index(i, max(0, (to - from + stride - 1) / stride));
    in_bounds(from + i * stride, d);
  }
  facts.add_index(i, d);
  in_bounds(d - 1 - i, d);
}

TEST_F(DimProof, BroadcastRead) {
  facts.add_index(i, broadcast(s, r));
  in_bounds(min(i, s - 1), s);
  EXPECT_FALSE(prove_less(i, s, facts));
}

TEST_F(DimProof, Clip) {
  facts.add_lower(x, std::numeric_limits<int64_t>::min());
  E read = max(0, min(x, d - 1));
  EXPECT_TRUE(prove_nonnegative(read, facts));
  EXPECT_FALSE(prove_less(read, d, facts));
  facts.add_lower(d, 1);
  in_bounds(read, d);
  EXPECT_FALSE(prove_less(max(0, x), d, facts));
}

TEST_F(DimProof, Wrap) {
  facts.add_lower(x, std::numeric_limits<int64_t>::min());
  in_bounds(x % d, d);
  in_bounds(x % 5, 5);
  in_bounds(x - (x / 3) * 3, 3);
  // The divisor may be negative.
  EXPECT_FALSE(prove_nonnegative(x % (d - n), facts));
}

TEST_F(DimProof, DepthToSpace) {
  E C = dim_var("C"), H = dim_var("H"), W = dim_var("W"), cc = dim_var("cc");
  facts.add_index(cc, C);
  facts.add_index(y, 2 * H);
  facts.add_index(x, 2 * W);
  in_bounds(y / 2, H);
  in_bounds(x % 2, 2);
  in_bounds(((y % 2) * 2 + x % 2) * C + cc, 4 * C);
  EXPECT_TRUE(prove_less_equal(cc / 4, (C - 1) / 4, facts));
  EXPECT_FALSE(prove_less(cc / 4, C / 4, facts));
}

TEST_F(DimProof, Reshape) {
  facts.add_index(x, n * m);
  in_bounds(x / m, n);
  in_bounds(x % m, m);
  facts.add_index(i, n);
  facts.add_index(j, m);
  in_bounds(i * m + j, n * m);
  EXPECT_FALSE(prove_less(i * n + j, n * m, facts));
}

TEST_F(DimProof, Triangular) {
  facts.add_index(i, n);
  facts.add_index(j, i + 1);
  in_bounds(i - j, n);
  EXPECT_TRUE(prove_less(j, n, facts));
  EXPECT_FALSE(prove_less(j, i, facts));
}

TEST_F(DimProof, Concatenation) {
  facts.add_index(i, n + m);
  EXPECT_TRUE(prove_less(min(i, n - 1), n, facts));
  EXPECT_TRUE(prove_nonnegative(max(0, i - n), facts));
  EXPECT_FALSE(prove_less(max(0, i - n), m, facts));  // not where m is 0
  facts.add_lower(m, 1);
  EXPECT_TRUE(prove_less(max(0, i - n), m, facts));
}

TEST_F(DimProof, PaddingAndTiles) {
  facts.add_index(i, (n + 3) / 4);
  facts.add_index(j, min(4, n - 4 * i));
  in_bounds(4 * i + j, n);
  facts.add_index(x, n + 2);
  EXPECT_TRUE(prove_less(max(0, min(x - 1, n - 1)), max(1, n), facts));
}

TEST_F(DimProof, Simplify) {
  auto becomes = [&](E from, E to) {
    EXPECT_TRUE(same(simplify(from, facts), to)) << text(from) << " -> " << text(simplify(from, facts));
  };
  facts.add_index(i, n);
  facts.add_index(j, m);
  becomes(min(i, n - 1), i);
  becomes(min(i, 0), 0);
  becomes(i / n, 0);
  becomes(i % n, i);
  becomes(max(0, i + 1), i + 1);
  becomes(max(0, n - 1 - i), n - 1 - i);
  becomes((max(0, i) * n + min(i, n - 1)) / n, i);
  becomes((i * m + j) / m, i);
  becomes((i * m + j) % m, j);
  becomes((i * m + j) / (m * s), i / s);
  becomes((i * m + j) % (m * s), (i % s) * m + j);
  becomes((i * 4 + j % 4) / 8, i / 2);
  becomes((x / m) * m + x % m, x);
  becomes((x / 4) * 8 + (x % 4) * 2, 2 * x);
  becomes((i - n) / n, -1);
  becomes((i - n) % n, i);
  becomes(min(i, m), min(i, m));
  becomes(i % m, i % m);
  becomes(dim_any(), dim_any());
}

// --- random expressions ----------------------------------------------------------------------------------

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
