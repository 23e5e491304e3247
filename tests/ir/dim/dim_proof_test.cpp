// What is proved of dims.

#include <gtest/gtest.h>

#include <limits>

#include "tests/ir/dim/dim_builder.h"

namespace quern {
namespace {

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

}  // namespace
}  // namespace quern
