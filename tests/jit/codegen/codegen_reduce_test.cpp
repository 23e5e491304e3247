// Reductions along the lanes of a vectorised loop, across them, and of arguments.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/dtypes.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;
using loops::Kernel;

/// Small integers, so that sums and products of floats are exact in any order.
GuardedArray small_integers(DType dtype, size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  GuardedArray array(dtype, size);
  for (size_t i = 0; i < size; ++i) {
    const auto value = static_cast<int64_t>(random() % 5) - 2;
    array.set(i, Scalar::from_int(dtype, size > 20 && random() % 4 != 0 ? 1 : value));
  }
  return array;
}

Scalar expected_reduction(ReduceKind kind, const Scalar& start, const GuardedArray& a) {
  Scalar accumulator = start;
  for (size_t i = 0; i < a.size(); ++i) accumulator = reduce_step(kind, accumulator, cast(a[i], start.dtype));
  return accumulator;
}

/// out = reduction of a, starting at 3 (or True).
Kernel along_lanes(ReduceKind kind, DType element, Dim extent, std::vector<Dim> dims, int width) {
  const DType accumulator = accumulator_dtype(element);
  const Dim r = dim_var("r");
  const auto value = load(0, element, r);
  const auto term = accumulator == element ? value : cast(accumulator, value);
  return kernel("along", {{"a", element, {extent}}, {"out", accumulator, {}, true}}, std::move(dims),
                {declare(0, accumulator, constant(accumulator, 3)),
                 loop_of(r, extent, width, {reduce(kind, 0, term)}), store(1, num(0), local(0, accumulator))},
                1);
}

class EveryReduction : public testing::TestWithParam<ReduceKind> {
 protected:
  static std::vector<DType> dtypes() {
    if (GetParam() == ReduceKind::Any || GetParam() == ReduceKind::All) return {kBool};
    return {kFloat,        DType::float64(), DType::float16(), DType::bfloat16(),
            DType::int8(), DType::int32(),   kInt64,           DType::uint8()};
  }

  static void check(const CompiledKernel& compiled, DType dtype, int64_t n, int width) {
    GuardedArray a = small_integers(dtype, static_cast<size_t>(n), static_cast<uint64_t>(n));
    const DType accumulator = accumulator_dtype(dtype);
    GuardedArray out(accumulator, 1);
    ASSERT_EQ(run(compiled, {&a, &out}, {n}), 0);
    const Scalar expected = expected_reduction(GetParam(), Scalar::from_int(accumulator, 3), a);
    ASSERT_EQ(out[0].as_double(), expected.as_double())
        << to_string(dtype) << ", width " << width << ", n " << n;
  }
};

TEST_P(EveryReduction, AlongLanesOfARunTimeExtent) {
  for (const DType dtype : dtypes()) {
    for (const int width : {1, 4, lanes_of(dtype)}) {
      const Dim n = dim_var("n");
      const auto compiled = compile(along_lanes(GetParam(), dtype, n, {n}, width));
      for (int64_t size = 0; size <= 2 * width; ++size) check(*compiled, dtype, size, width);
      for (const int64_t size : {4 * width - 1, 4 * width, 4 * width + 1, 9 * width + 3}) {
        check(*compiled, dtype, size, width);
      }
    }
  }
}

TEST_P(EveryReduction, AlongLanesOfAConstantExtent) {
  const DType dtype = dtypes().front();
  constexpr int kWidth = 8;
  for (const int64_t size : {0, 1, 7, 8, 9, 16, 17, 24, 31, 32, 33, 40, 64, 71}) {
    check(*compile(along_lanes(GetParam(), dtype, num(size), {}, kWidth)), dtype, size, kWidth);
  }
}

/// out[j] = reduction of column j: serial reductions inside a vectorised output axis.
TEST_P(EveryReduction, AcrossLanes) {
  for (const DType dtype : dtypes()) {
    const DType accumulator = accumulator_dtype(dtype);
    const Dim n = dim_var("n");
    const Dim m = dim_var("m");
    const Dim j = dim_var("j");
    const Dim r = dim_var("r");
    const auto value = load(0, dtype, dim_add(dim_mul(r, m), j));
    const auto term = accumulator == dtype ? value : cast(accumulator, value);
    const auto compiled = compile(
        kernel("across", {{"a", dtype, {n, m}}, {"out", accumulator, {m}, true}}, {n, m},
               {vectorize(j, m, lanes_of(dtype),
                          {declare(0, accumulator, constant(accumulator, 1)),
                           loop(r, n, {reduce(GetParam(), 0, term)}), store(1, j, local(0, accumulator))})},
               1));
    for (const auto& [rows, columns] : {std::pair<size_t, size_t>{3, 150}, {0, 5}, {4, 0}, {1, 1}}) {
      GuardedArray a = small_integers(dtype, rows * columns, columns);
      GuardedArray out(accumulator, columns);
      ASSERT_EQ(run(*compiled, {&a, &out}, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)}), 0);
      for (size_t c = 0; c < columns; ++c) {
        GuardedArray column(dtype, rows);
        for (size_t i = 0; i < rows; ++i) column.set(i, a[i * columns + c]);
        const Scalar expected = expected_reduction(GetParam(), Scalar::from_int(accumulator, 1), column);
        ASSERT_EQ(out[c].as_double(), expected.as_double()) << to_string(dtype) << " column " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codegen, EveryReduction,
                         testing::Values(ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min,
                                         ReduceKind::Any, ReduceKind::All),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(CodegenReduce, NanGoesThroughMinAndMax) {
  for (const ReduceKind kind : {ReduceKind::Min, ReduceKind::Max}) {
    const Dim n = dim_var("n");
    const auto compiled = compile(along_lanes(kind, kFloat, n, {n}, 4));
    for (size_t at = 0; at < 19; ++at) {
      GuardedArray a = small_integers(kFloat, 19, at);
      a.set(at, Scalar::from_double(kFloat, NAN));
      GuardedArray out(kFloat, 1);
      ASSERT_EQ(run(*compiled, {&a, &out}, {19}), 0);
      EXPECT_TRUE(std::isnan(out[0].as_double())) << at;
    }
  }
}

/// The order that jit/loops/stmt.h gives for 4 vectors of 4 lanes and a rest.
float sum_in_documented_order(const std::vector<float>& x) {
  std::array<std::array<float, 4>, 4> parts{};
  const size_t whole = x.size() / 16 * 16;
  for (size_t i = 0; i < whole; ++i) parts[i / 4 % 4][i % 4] += x[i];
  for (size_t i = whole; i < x.size(); ++i) parts[0][i % 4] += x[i];
  std::array<float, 4> lanes{};
  for (size_t k = 0; k < 4; ++k) lanes[k] = (parts[0][k] + parts[1][k]) + (parts[2][k] + parts[3][k]);
  return 3.0F + ((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]));
}

TEST(CodegenReduce, SumsInTheDocumentedOrder) {
  const Dim n = dim_var("n");
  const auto compiled = compile(along_lanes(ReduceKind::Sum, kFloat, n, {n}, 4));
  std::mt19937 random(1);
  for (const size_t size : {0, 3, 15, 16, 29, 1000, 1003}) {
    std::vector<float> values(size);
    GuardedArray a(kFloat, size);
    for (size_t i = 0; i < size; ++i) {
      values[i] = std::uniform_real_distribution<float>(-1, 1)(random);
      a.set(i, Scalar::from_double(kFloat, static_cast<double>(values[i])));
    }
    GuardedArray out(kFloat, 1);
    ASSERT_EQ(run(*compiled, {&a, &out}, {static_cast<int64_t>(size)}), 0);
    EXPECT_EQ(static_cast<float>(out[0].as_double()), sum_in_documented_order(values)) << size;
  }
}

/// A single vector of products, from which LLVM makes dot products of four: the sum has all their lanes.
TEST(CodegenReduce, SumsProductsOfBytes) {
  for (const auto& [left, right] :
       {std::pair(DType::int8(), DType::uint8()), std::pair(DType::uint8(), DType::int8())}) {
    for (const int64_t size : {8, 16, 32, 64}) {
      const Dim r = dim_var("r");
      const auto product = apply(
          ScalarOp::Mul, {cast(DType::int32(), load(0, left, r)), cast(DType::int32(), load(1, right, r))});
      const auto compiled = compile(
          kernel("products",
                 {{"a", left, {num(size)}}, {"b", right, {num(size)}}, {"out", DType::int32(), {}, true}}, {},
                 {declare(0, DType::int32(), constant(DType::int32(), 0)),
                  loop_of(r, num(size), static_cast<int>(size), {reduce(ReduceKind::Sum, 0, product)}),
                  store(2, num(0), local(0, DType::int32()))},
                 1));
      GuardedArray a(left, static_cast<size_t>(size)), b(right, static_cast<size_t>(size)),
          out(DType::int32(), 1);
      int64_t expected = 0;
      for (int64_t i = 0; i < size; ++i) {
        a.set(static_cast<size_t>(i), Scalar::from_int(left, i + 1));
        b.set(static_cast<size_t>(i), Scalar::from_int(right, 100 - i));
        expected += (i + 1) * (100 - i);
      }
      ASSERT_EQ(run(*compiled, {&a, &b, &out}, {}), 0);
      EXPECT_EQ(out[0].as_int(), expected) << to_string(left) << ", " << size;
    }
  }
}

/// One sum over both axes, the vectorised one outside.
TEST(CodegenReduce, AVectorizedLoopMayHoldTheSerialOne) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim j = dim_var("j");
  const Dim r = dim_var("r");
  const auto step = reduce(ReduceKind::Sum, 0, load(0, kFloat, dim_add(dim_mul(r, m), j)));
  const auto compiled =
      compile(kernel("both", {{"a", kFloat, {n, m}}, {"out", kFloat, {}, true}}, {n, m},
                     {declare(0, kFloat, constant(kFloat, 0)), vectorize(j, m, 8, {loop(r, n, {step})}),
                      store(1, num(0), local(0, kFloat))},
                     1));
  GuardedArray a = small_integers(kFloat, 5 * 19, 3);
  GuardedArray out(kFloat, 1);
  ASSERT_EQ(run(*compiled, {&a, &out}, {5, 19}), 0);
  EXPECT_EQ(out[0], expected_reduction(ReduceKind::Sum, Scalar::from_int(kFloat, 0), a));
}

/// A sum of what does not depend on the lane counts every active lane, and no other.
TEST(CodegenReduce, CountsUniformValuesOncePerLane) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const auto compiled = compile(kernel("count", {{"out", kInt64, {}, true}}, {n},
                                       {declare(0, kInt64, constant(kInt64, 0)),
                                        vectorize(i, n, 8, {reduce(ReduceKind::Sum, 0, constant(kInt64, 1))}),
                                        store(0, num(0), local(0, kInt64))},
                                       1));
  for (int64_t size = 0; size < 80; ++size) {
    GuardedArray out(kInt64, 1);
    ASSERT_EQ(run(*compiled, {&out}, {size}), 0);
    EXPECT_EQ(out[0].as_int(), size);
  }
}

/// out[j] = position of the best of column j.
Kernel arg_columns(ReduceKind kind, DType dtype, int width) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim j = dim_var("j");
  const Dim r = dim_var("r");
  const auto value = load(0, dtype, dim_add(dim_mul(r, m), j));
  return kernel("arg", {{"a", dtype, {n, m}}, {"out", kInt64, {m}, true}}, {n, m},
                {loop_of(j, m, width,
                         {declare(0, dtype, constant(reduce_identity(kind, dtype))),
                          declare(1, DType::index(), constant(DType::index(), 0)),
                          loop(r, n, {arg_reduce(kind, 0, 1, value, index(r))}),
                          store(1, j, cast(kInt64, local(1, DType::index())))})},
                2);
}

TEST(CodegenReduce, ArgReductionsKeepTheFirstOfTiesAndTheFirstNan) {
  for (const ReduceKind kind : {ReduceKind::ArgMax, ReduceKind::ArgMin}) {
    for (const DType dtype : {kFloat, DType::int32(), DType::uint8()}) {
      for (const int width : {1, 8}) {
        const auto compiled = compile(arg_columns(kind, dtype, width));
        const size_t rows = 6;
        const size_t columns = 21;
        GuardedArray a = small_integers(dtype, rows * columns, 5);
        if (dtype.is_float()) {
          for (const size_t at : {size_t{3}, 2 * columns + 4, 4 * columns + 4}) {
            a.set(at, Scalar::from_double(dtype, NAN));
          }
          for (size_t r = 0; r < rows; ++r) a.set(r * columns + 7, reduce_identity(kind, dtype));
        }
        GuardedArray out(kInt64, columns);
        ASSERT_EQ(run(*compiled, {&a, &out}, {rows, columns}), 0);
        for (size_t c = 0; c < columns; ++c) {
          size_t best = 0;
          for (size_t r = 1; r < rows; ++r) {
            if (is_better(kind, a[r * columns + c], a[best * columns + c])) best = r;
          }
          EXPECT_EQ(out[c].as_int(), static_cast<int64_t>(best)) << to_string(kind) << " column " << c;
        }
      }
    }
  }
}

/// Two vectorised loops share locals: the second reads what the first reduced.
TEST(CodegenReduce, NormalizesRows) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const Dim k = dim_var("k");
  const auto at = [&](Dim column) { return dim_add(dim_mul(i, m), column); };
  const auto divided = apply(ScalarOp::Div, {load(0, kFloat, at(k)), local(0, kFloat)});
  const auto compiled =
      compile(kernel("normalize", {{"a", kFloat, {n, m}}, {"out", kFloat, {n, m}, true}}, {n, m},
                     {loop(i, n,
                           {declare(0, kFloat, constant(kFloat, 0)),
                            vectorize(j, m, 4, {reduce(ReduceKind::Sum, 0, load(0, kFloat, at(j)))}),
                            vectorize(k, m, 4, {store(1, at(k), divided)})})},
                     1));
  GuardedArray a(kFloat, {1, 2, 3, 1, 1, 10, 20, 30, 10, 10});
  GuardedArray out(kFloat, 10);
  ASSERT_EQ(run(*compiled, {&a, &out}, {2, 5}), 0);
  EXPECT_EQ(out.doubles(),
            (std::vector<double>{0.125, 0.25, 0.375, 0.125, 0.125, 0.125, 0.25, 0.375, 0.125, 0.125}));
}

}  // namespace
}  // namespace quern
