// Residue classes: a division of an index variable goes, and with it terms and tests.

#include "jit/compute/residues.h"

#include <gtest/gtest.h>

#include "tests/dtypes.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;

/// out[x] = sum[s < (taps + stride - 1) / stride] a[(x + pad) / stride - s else 0]
///                                                * b[stride * s + (x + pad) % stride else 0]
Computation transposed(Dim extent, int64_t taps, int64_t stride, int64_t pad) {
  const Dim x = dim_var("x"), s = dim_var("s"), step = num(stride), from = dim_add(x, num(pad));
  const Dim a = dim_sub(dim_floordiv(from, step), s), b = dim_add(dim_mul(step, s), dim_floormod(from, step));
  Computation c;
  c.buffers = {{"a", kFloat, {num(5)}}, {"b", kFloat, {num(taps)}}, {"out", kFloat, {extent}, true}};
  c.vars = {x};
  c.extents = {extent};
  Reduction r{ReduceKind::Sum, {s}, {num((taps + stride - 1) / stride)}};
  r.accumulator = kFloat;
  const BoundsCheck in_a{a, nullptr, num(5), num(1)}, in_b{b, nullptr, num(taps), num(1)};
  r.checks = {in_a, in_b};
  r.value = apply(ScalarOp::Mul, {load_or(load_value(0, kFloat, a), {in_a}, constant(kFloat, 0)),
                                  load_or(load_value(1, kFloat, b), {in_b}, constant(kFloat, 0))});
  c.reductions = {r};
  c.locals = 1;
  c.value = local(0, kFloat);
  c.store_offset = x;
  return c;
}

TEST(Residues, OfAStrideHaveTheirTaps) {
  const auto classes = residue_classes(transposed(num(11), 3, 2, 1));
  ASSERT_EQ(classes.size(), 2U);
  for (const Computation& c : classes) {
    for_each_dim(c, [](Dim d) { for_each_quotient(d, [](Dim q) { ADD_FAILURE() << to_string(q); }); });
    for_each<LoadValue>(c.reductions[0].value, [](const LoadValue& load) {
      if (load.buffer == 1) {
        EXPECT_TRUE(load.checks.empty());
        EXPECT_EQ(load.otherwise, nullptr);
      }
    });
  }
  // x = 0, 2, … meet the tap in the middle, and x = 1, 3, … the first and the last.
  EXPECT_TRUE(is_const(classes[0].extents[0], 6));
  EXPECT_TRUE(classes[0].reductions[0].vars.empty());
  EXPECT_TRUE(is_const(classes[1].extents[0], 5));
  ASSERT_EQ(classes[1].reductions[0].extents.size(), 1U);
  EXPECT_TRUE(is_const(classes[1].reductions[0].extents[0], 2));
  EXPECT_EQ(classes[1].reductions[0].checks.size(), 1U);
}

TEST(Residues, WithoutTapsAreWhatASumStartsFrom) {
  const auto classes = residue_classes(transposed(num(11), 1, 2, 0));
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_FALSE(classes[0].reductions[0].is_let);
  EXPECT_TRUE(classes[1].reductions[0].is_let);
}

// Rows of whole steps are two loops, of which the inner one decides.
TEST(Residues, AreTheStepsOfAShortLoopThatDecidesWhichTermsCount) {
  const auto classes = residue_classes(with_simple_loops(transposed(num(10), 1, 2, 0)));
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_FALSE(classes[0].reductions[0].is_let);
  EXPECT_TRUE(classes[0].reductions[0].checks.empty());
  EXPECT_TRUE(classes[1].reductions[0].is_let);
  EXPECT_EQ(residue_classes(with_simple_loops(transposed(num(12), 1, 6, 0))).size(), 1U);
}

// The second axis has no classes where the first one has left no terms.
TEST(Residues, OfASecondAxisAreOfClassesWithTermsOnly) {
  Computation c = transposed(num(10), 1, 2, 0);
  const Dim y = dim_var("y");
  c.vars.push_back(y);
  c.extents.push_back(num(12));
  const Dim odd = dim_floormod(y, num(2));
  c.reductions[0].checks.push_back({dim_sub(num(0), odd), nullptr, num(1), num(1)});
  c.store_offset = dim_add(dim_mul(c.vars[0], num(12)), y);
  const auto classes = residue_classes(with_simple_loops(c));
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_FALSE(classes[0].reductions[0].is_let);
  EXPECT_TRUE(classes[1].reductions[0].is_let && classes[2].reductions[0].is_let);
}

TEST(Residues, OfAnExtentThatIsNotKnown) {
  const Dim n = dim_var("n");
  const auto classes = residue_classes(transposed(n, 4, 3, 0));
  ASSERT_EQ(classes.size(), 3U);
  for (int64_t extent = 0; extent < 8; ++extent) {
    int64_t sum = 0;
    for (const Computation& c : classes)
      sum +=
          *evaluate(c.extents[0], [&](Dim var) { return var == n ? std::optional(extent) : std::nullopt; });
    EXPECT_EQ(sum, extent);
  }
}

TEST(Residues, AreNotMany) { EXPECT_EQ(residue_classes(transposed(num(40), 3, 17, 0)).size(), 1U); }

}  // namespace
}  // namespace quern::loops
