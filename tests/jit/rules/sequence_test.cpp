// Kernels of parts of a result, as one.

#include "jit/rules/sequence.h"

#include <gtest/gtest.h>

#include "tests/dtypes.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;

/// for i in 0..steps in range from 0 { out[2*i + first] = 1 }
Kernel stores(int64_t steps, bool shared, std::string_view axis = "i", int64_t first = 0) {
  const Dim i = dim_var(axis);
  const Dim offset = dim_add(dim_mul(num(2), i), num(first));
  Kernel kernel;
  kernel.buffers = {{"out", kFloat, {num(2 * steps)}, true}};
  kernel.body = {make(For{.var = i,
                          .extent = num(steps),
                          .execution = Serial{.before = shared ? num(0) : nullptr},
                          .body = {store(0, offset, constant(kFloat, 1))}})};
  if (shared) kernel.range = kernel.work = num(steps);
  return kernel;
}

/// Where the part of the range begins that a loop does.
Dim start_of(const StmtPtr& loop) { return as<For>(loop)->serial()->before; }

TEST(Sequence, HasRangesThatFollowOneAnother) {
  const Kernel both = in_sequence({stores(3, true, "i"), stores(4, true, "j")});
  ASSERT_EQ(both.body.size(), 2U);
  EXPECT_TRUE(is_const(start_of(both.body[0]), 0));
  EXPECT_TRUE(is_const(start_of(both.body[1]), 3));
  EXPECT_TRUE(is_const(both.range, 7));
  EXPECT_TRUE(is_const(both.work, 7));
}

TEST(Sequence, IsSharedWhereAllAre) {
  const Kernel both = in_sequence({stores(3, true), stores(4, false)});
  EXPECT_EQ(start_of(both.body[0]), nullptr);
  EXPECT_EQ(both.range, nullptr);
  EXPECT_EQ(both.work, nullptr);
}

TEST(Sequence, AlongOneAxisTakesTurns) {
  const Kernel both = in_sequence({stores(4, true, "y", 0), stores(3, true, "y", 1)});
  EXPECT_TRUE(is_const(both.range, 4));
  EXPECT_TRUE(is_const(both.work, 7));
  EXPECT_EQ(print_kernel(both),
            "kernel(out: float32[6]) dims() range(4) {\n"
            "  for y in 0..4 in range from 0 {\n"
            "    out[2*y] = 1\n"
            "    if 0 <= y < 3 {\n"
            "      out[2*y + 1] = 1\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(Sequence, OfLoopsOfOtherLengthsDoesNot) {
  EXPECT_EQ(in_sequence({stores(9, true, "y"), stores(3, true, "y", 1)}).body.size(), 2U);
}

}  // namespace
}  // namespace quern::loops
