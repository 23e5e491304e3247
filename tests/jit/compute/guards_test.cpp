// Guards of loads: which conditions an access stands under, in code and in the verifier of kernels.

#include <gtest/gtest.h>

#include "jit/compute/verify_accesses.h"
#include "tests/dtypes.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;
using loops::BoundsCheck;
using loops::Kernel;
using loops::ValuePtr;

BoundsCheck within(Dim index, Dim extent) { return {index, nullptr, extent}; }

/// Where the condition holds: 0 then, else -1, below 1.
BoundsCheck guard(const ValuePtr& condition) {
  BoundsCheck check{nullptr, select(condition, index(num(0)), index(num(-1))), num(1)};
  check.is_guard = true;
  return check;
}

/// out[i] = table[places[i]] where places[i] < limit, else -1; a place that is looked at and not inside stops
/// it.
Kernel guarded_gather(int width, Dim n) {
  const Dim i = dim_var("i"), limit = dim_var("limit");
  ValuePtr place = cast(kIndex, load(1, kInt64, i));
  ValuePtr is_wanted = apply(ScalarOp::Lt, {place, index(limit)});
  ValuePtr element = load_trap(gather_value(0, kFloat, num(0), place, num(1)),
                               {{nullptr, place, num(5)}, guard(is_wanted)}, 1);
  return kernel("guarded", {{"table", kFloat, {num(5)}}, {"places", kInt64, {n}}, {"out", kFloat, {n}, true}},
                {n, limit},
                {loop_of(i, n, width, {store(2, i, select(is_wanted, element, constant(kFloat, -1)))})});
}

TEST(Guards, OfWhatNobodyLooksAtStopNothing) {
  for (const int width : {1, 8}) {
    const auto compiled = compile(guarded_gather(width, dim_var("n")));
    GuardedArray table(kFloat, 5), places(kInt64, 19), out(kFloat, 19);
    for (size_t k = 0; k < 5; ++k) table.set(k, Scalar::from_int(kFloat, static_cast<int64_t>(10 + k)));
    for (size_t k = 0; k < 19; ++k) places.set(k, Scalar::from_int(kInt64, static_cast<int64_t>(k)));
    ASSERT_EQ(run(*compiled, {&table, &places, &out}, {19, 4}), 0) << width;
    for (size_t k = 0; k < 19; ++k)
      EXPECT_EQ(out[k].as_double(), k < 4 ? 10 + static_cast<double>(k) : -1) << width;
    EXPECT_EQ(run(*compiled, {&table, &places, &out}, {19, 6}), 1) << "place 5 is looked at; " << width;
  }
}

/// out[i] = 12 / (i - zero)
TEST(Guards, DivisionByZeroStops) {
  for (const int width : {1, 8}) {
    const Dim n = dim_var("n"), zero = dim_var("zero"), i = dim_var("i");
    const Dim divisor = dim_sub(i, zero), square = dim_mul(divisor, divisor);
    loops::IndexValue quotient{kIndex, dim_floordiv(num(12), divisor)};
    quotient.checks = {within(dim_sub(square, num(1)), square)};
    quotient.trap = 1;
    const auto compiled =
        compile(kernel("divides", {{"out", kInt64, {n}, true}}, {n, zero},
                       {loop_of(i, n, width, {store(0, i, cast(kInt64, make(quotient)))})}));
    GuardedArray out(kInt64, 10);
    EXPECT_EQ(run(*compiled, {&out}, {10, 7}), 1) << width;
    ASSERT_EQ(run(*compiled, {&out}, {10, 20}), 0) << width;
    EXPECT_EQ(out[0].as_int(), -1);  // floor(12 / -20)
    EXPECT_EQ(out[9].as_int(), -2);  // floor(12 / -11)
  }
}

TEST(Accesses, AreInsideByTheirOwnChecks) {
  const Dim i = dim_var("i");
  const auto over = [&](ValuePtr value, Dim extent = num(8)) {
    return kernel("reads", {{"a", kFloat, {num(6)}}, {"out", kFloat, {num(8)}, true}}, {},
                  {vectorize(i, extent, 4, {store(1, i, std::move(value))})});
  };
  const ValuePtr zero = constant(kFloat, 0), read = load(0, kFloat, i);
  const ValuePtr is_below = apply(ScalarOp::Lt, {index(i), index(num(6))});
  EXPECT_NE(outside_access(over(read)), "");
  EXPECT_EQ(outside_access(over(read, num(6))), "");
  EXPECT_NE(outside_access(over(read, num(9))), "") << "the store";
  EXPECT_EQ(outside_access(over(load_or(load_value(0, kFloat, i), {within(i, num(6))}, zero))), "");
  EXPECT_NE(outside_access(over(load_or(load_value(0, kFloat, i), {within(i, num(7))}, zero))), "");
  EXPECT_NE(outside_access(over(select(is_below, read, zero))), "") << "both arms are evaluated";
}

}  // namespace
}  // namespace quern
