// Loads: strides, computed indices, bounds with a value otherwise, and bounds that stop the kernel. Arrays
// lie between inaccessible pages, so a load out of bounds stops the test.

#include <gtest/gtest.h>

#include "tests/dtypes.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;
using loops::BoundsCheck;
using loops::Kernel;

GuardedArray counting(DType dtype, size_t size, int64_t from = 1) {
  GuardedArray array(dtype, size);
  for (size_t i = 0; i < size; ++i) array.set(i, Scalar::from_int(dtype, from + static_cast<int64_t>(i)));
  return array;
}

BoundsCheck inside(Dim index, Dim extent) { return {index, nullptr, extent}; }
BoundsCheck inside(loops::ValuePtr index, Dim extent) { return {nullptr, std::move(index), extent}; }

/// The element's value, or `otherwise` out of bounds.
double at_or(const GuardedArray& a, int64_t i, double otherwise) {
  return i >= 0 && i < static_cast<int64_t>(a.size()) ? a[static_cast<size_t>(i)].as_double() : otherwise;
}

TEST(CodegenLoad, StridesOfAllSigns) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  for (const DType dtype : {kFloat, DType::float16(), DType::int8(), kInt64, DType::boolean()}) {
    for (const int64_t stride : {0, 1, 2, 3, -1, -2}) {
      const Dim start = stride < 0 ? dim_mul(num(-stride), dim_sub(n, num(1))) : num(0);
      const auto compiled = compile(kernel(
          "strides", {{"a", dtype, {num(200)}}, {"out", dtype, {n}, true}}, {n},
          {vectorize(i, n, 8, {store(1, i, load(0, dtype, dim_add(start, dim_mul(num(stride), i))))})}));
      for (int64_t size = 1; size <= 20; ++size) {
        const int64_t steps = stride < 0 ? -stride : stride;
        GuardedArray a = counting(dtype, static_cast<size_t>(steps * (size - 1) + 1), 0);
        GuardedArray out(dtype, static_cast<size_t>(size));
        ASSERT_EQ(run(*compiled, {&a, &out}, {size}), 0);
        for (int64_t k = 0; k < size; ++k) {
          const int64_t from = stride < 0 ? steps * (size - 1 - k) : steps * k;
          ASSERT_EQ(out[static_cast<size_t>(k)], a[static_cast<size_t>(from)])
              << to_string(dtype) << " " << stride;
        }
      }
    }
  }
}

/// out[i, j] = table[rows[i] * 5 + columns[j]]
TEST(CodegenLoad, GathersByComputedIndices) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const auto row = cast(kIndex, load(1, kInt64, i));
  const auto column = cast(kIndex, load(2, kInt64, j));
  for (const DType dtype : {kFloat, DType::bfloat16(), DType::uint8()}) {
    for (const int width : {1, 8}) {
      loops::LoadValue from = gather_value(0, dtype, num(0), row, num(5));
      from.computed.push_back({column, num(1)});
      const auto body = store(3, dim_add(dim_mul(i, m), j), make(from));
      const auto compiled = compile(kernel("gather",
                                           {{"t", dtype, {num(4), num(5)}},
                                            {"r", kInt64, {n}},
                                            {"c", kInt64, {m}},
                                            {"out", dtype, {n, m}, true}},
                                           {n, m}, {loop(i, n, {loop_of(j, m, width, {body})})}));
      GuardedArray table = counting(dtype, 20);
      GuardedArray rows(kInt64, {3, 0, 2});
      GuardedArray columns(kInt64, {4, 0, 0, 1, 2, 3, 4, 1, 0, 2, 2});
      GuardedArray out(dtype, 33);
      ASSERT_EQ(run(*compiled, {&table, &rows, &columns, &out}, {3, 11}), 0);
      for (size_t k = 0; k < 33; ++k) {
        const int64_t at = rows[k / 11].as_int() * 5 + columns[k % 11].as_int();
        ASSERT_EQ(out[k], table[static_cast<size_t>(at)]);
      }
    }
  }
}

/// A contiguous row whose start is computed once for all lanes.
TEST(CodegenLoad, AUniformComputedOffsetStaysContiguous) {
  const Dim j = dim_var("j");
  const auto row = cast(kIndex, load(1, kInt64, num(0)));
  const auto body = store(2, j, make(gather_value(0, kFloat, j, row, num(11))));
  const Kernel rows = kernel(
      "row", {{"t", kFloat, {num(3), num(11)}}, {"r", kInt64, {num(1)}}, {"out", kFloat, {num(11)}, true}},
      {}, {vectorize(j, num(11), 8, {body})});
  EXPECT_EQ(code_generator().llvm_ir(rows)->find("gather"), std::string::npos);
  GuardedArray table = counting(kFloat, 33);
  GuardedArray row_number(kInt64, {2});
  GuardedArray out(kFloat, 11);
  ASSERT_EQ(run(*compile(rows), {&table, &row_number, &out}), 0);
  EXPECT_EQ(out[10], table[32]);
}

/// out[i] = a[i - 3] in bounds, else otherwise: padding on both sides.
void check_padding(DType dtype, int width, const loops::ValuePtr& otherwise, double expected_outside) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const Dim from = dim_sub(i, num(3));
  const auto value = load_or(load_value(0, dtype, from), {inside(from, n)}, otherwise);
  const Dim extent = dim_add(n, num(6));
  const auto compiled = compile(kernel("pad", {{"a", dtype, {n}}, {"out", dtype, {extent}, true}}, {n},
                                       {loop_of(i, extent, width, {store(1, i, value)})}));
  for (size_t size = 0; size <= 20; ++size) {
    GuardedArray a = counting(dtype, size);
    GuardedArray out(dtype, size + 6);
    ASSERT_EQ(run(*compiled, {&a, &out}, {static_cast<int64_t>(size)}), 0);
    for (size_t k = 0; k < out.size(); ++k) {
      ASSERT_EQ(out[k].as_double(), at_or(a, static_cast<int64_t>(k) - 3, expected_outside))
          << to_string(dtype) << k;
    }
  }
}

TEST(CodegenLoad, PaddedLoadsGiveTheOtherwise) {
  for (const DType dtype :
       {kFloat, DType::float64(), DType::float16(), DType::bfloat16(), DType::int8(), DType::boolean()}) {
    for (const int width : {1, 4, 16}) {
      check_padding(dtype, width, constant(dtype, 0), 0);
      if (!dtype.is_bool()) check_padding(dtype, width, constant(dtype, -2), -2);
      if (!dtype.is_bool()) check_padding(dtype, width, apply(ScalarOp::Neg, {constant(dtype, 2)}), -2);
    }
  }
}

/// A padded image: the row's check is the same for all lanes, the column's is not.
TEST(CodegenLoad, MixesUniformAndVaryingChecks) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const Dim row = dim_sub(i, num(1));
  const Dim column = dim_sub(j, num(2));
  const Dim width_out = dim_add(m, num(4));
  const auto value = load_or(load_value(0, kFloat, dim_add(dim_mul(row, m), column)),
                             {inside(row, n), inside(column, m)}, constant(kFloat, -1));
  for (const int width : {1, 8}) {
    const auto compiled = compile(kernel(
        "pad2", {{"a", kFloat, {n, m}}, {"out", kFloat, {dim_add(n, num(2)), width_out}, true}}, {n, m},
        {loop(i, dim_add(n, num(2)),
              {loop_of(j, width_out, width, {store(1, dim_add(dim_mul(i, width_out), j), value)})})}));
    const int64_t rows = 3;
    const int64_t columns = 9;
    GuardedArray a = counting(kFloat, static_cast<size_t>(rows * columns));
    GuardedArray out(kFloat, static_cast<size_t>((rows + 2) * (columns + 4)));
    ASSERT_EQ(run(*compiled, {&a, &out}, {rows, columns}), 0);
    for (int64_t k = 0; k < static_cast<int64_t>(out.size()); ++k) {
      const int64_t r = k / (columns + 4) - 1;
      const int64_t c = k % (columns + 4) - 2;
      const bool in = r >= 0 && r < rows && c >= 0 && c < columns;
      ASSERT_EQ(out[static_cast<size_t>(k)].as_double(),
                in ? a[static_cast<size_t>(r * columns + c)].as_double() : -1);
    }
  }
}

/// a[i] for i < n, else b[i - n] (a concatenation), where the second load has no check of its own.
TEST(CodegenLoad, TheOtherwiseLoadsOnlyWhereItIsNeeded) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim total = dim_add(n, m);
  for (const DType dtype : {kFloat, DType::float16()}) {
    const auto value = load_or(load_value(0, dtype, i), {inside(i, n)}, load(1, dtype, dim_sub(i, n)));
    for (const int width : {1, 8}) {
      const auto compiled =
          compile(kernel("concat", {{"a", dtype, {n}}, {"b", dtype, {m}}, {"out", dtype, {total}, true}},
                         {n, m}, {loop_of(i, total, width, {store(2, i, value)})}));
      for (const auto& [first, second] :
           {std::pair<size_t, size_t>{5, 14}, {0, 9}, {17, 0}, {8, 8}, {0, 0}}) {
        GuardedArray a = counting(dtype, first);
        GuardedArray b = counting(dtype, second, 100);
        GuardedArray out(dtype, first + second);
        ASSERT_EQ(run(*compiled, {&a, &b, &out}, {static_cast<int64_t>(first), static_cast<int64_t>(second)}),
                  0);
        for (size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], k < first ? a[k] : b[k - first]);
      }
    }
  }
}

/// An otherwise that is the same for all lanes, of an empty array: nothing may be loaded where no lane needs
/// it.
TEST(CodegenLoad, AUniformOtherwiseIsNotLoadedInVain) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const auto value = load_or(load_value(0, kFloat, i), {inside(i, n)}, load(1, kFloat, num(0)));
  const auto compiled =
      compile(kernel("vain", {{"a", kFloat, {n}}, {"b", kFloat, {num(0)}}, {"out", kFloat, {n}, true}}, {n},
                     {vectorize(i, n, 8, {store(2, i, value)})}));
  GuardedArray a = counting(kFloat, 19);
  GuardedArray nothing(kFloat, 0);
  GuardedArray out(kFloat, 19);
  ASSERT_EQ(run(*compiled, {&a, &nothing, &out}, {19}), 0);
  EXPECT_EQ(out.doubles(), a.doubles());
}

/// out[i] = table[ids[i]], stopping on a bad id.
Kernel lookup(int width) {
  const Dim n = dim_var("n");
  const Dim k = dim_var("k");
  const Dim i = dim_var("i");
  const auto id = cast(kIndex, load(1, kInt64, i));
  const auto value = load_trap(gather_value(0, kFloat, num(0), id, num(1)), {inside(id, k)}, 2);
  return kernel("lookup", {{"t", kFloat, {k}}, {"ids", kInt64, {n}}, {"out", kFloat, {n}, true}}, {n, k},
                {loop_of(i, n, width, {store(2, i, value)})});
}

TEST(CodegenLoad, StopsAtAComputedIndexOutOfBounds) {
  for (const int width : {1, 8}) {
    const auto compiled = compile(lookup(width));
    GuardedArray table = counting(kFloat, 6);
    for (int64_t size = 0; size <= 20; ++size) {
      GuardedArray ids(kInt64, static_cast<size_t>(size));
      for (size_t k = 0; k < ids.size(); ++k)
        ids.set(k, Scalar::from_int(kInt64, static_cast<int64_t>(k % 6)));
      GuardedArray out(kFloat, ids.size());
      ASSERT_EQ(run(*compiled, {&table, &ids, &out}, {size, 6}), 0);
      for (size_t k = 0; k < ids.size(); ++k) ASSERT_EQ(out[k], table[k % 6]);
      for (size_t k = 0; k < ids.size(); ++k) {
        for (const int64_t bad : {int64_t{6}, int64_t{-1}, INT64_MIN}) {
          const Scalar kept = ids[k];
          ids.set(k, Scalar::from_int(kInt64, bad));
          ASSERT_EQ(run(*compiled, {&table, &ids, &out}, {size, 6}), 2) << size << " at " << k;
          ids.set(k, kept);
        }
      }
    }
  }
}

TEST(CodegenLoad, ChecksThatDoNotVaryStopTheKernelOnce) {
  const Dim n = dim_var("n");
  const Dim i = dim_var("i");
  const auto value = load_trap(load_value(0, kFloat, num(3)), {inside(num(3), n)}, 1);
  const auto compiled = compile(kernel("once", {{"a", kFloat, {n}}, {"out", kFloat, {num(9)}, true}}, {n},
                                       {vectorize(i, num(9), 8, {store(1, i, value)})}));
  GuardedArray out(kFloat, 9);
  GuardedArray enough = counting(kFloat, 4);
  EXPECT_EQ(run(*compiled, {&enough, &out}, {4}), 0);
  EXPECT_EQ(out[8].as_double(), 4);
  GuardedArray too_short = counting(kFloat, 3);
  EXPECT_EQ(run(*compiled, {&too_short, &out}, {3}), 1);
}

/// a[i] in bounds; elsewhere b[c], which stops the kernel if c is bad, but only where it is looked at.
TEST(CodegenLoad, ATrapInAnOtherwiseCountsOnlyWhereItIsNeeded) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim extent = dim_var("extent");
  const auto fallback = load_trap(load_value(1, kFloat, num(2)), {inside(num(2), m)}, 1);
  const auto value = load_or(load_value(0, kFloat, i), {inside(i, n)}, fallback);
  for (const int width : {1, 8}) {
    const auto compiled =
        compile(kernel("fallback", {{"a", kFloat, {n}}, {"b", kFloat, {m}}, {"out", kFloat, {extent}, true}},
                       {n, m, extent}, {loop_of(i, extent, width, {store(2, i, value)})}));
    GuardedArray a = counting(kFloat, 11);
    GuardedArray b = counting(kFloat, 2, 50);
    GuardedArray out(kFloat, 13);
    EXPECT_EQ(run(*compiled, {&a, &b, &out}, {11, 2, 11}), 0);
    EXPECT_EQ(run(*compiled, {&a, &b, &out}, {11, 2, 12}), 1);
    GuardedArray longer = counting(kFloat, 3, 50);
    EXPECT_EQ(run(*compiled, {&a, &longer, &out}, {11, 3, 13}), 0);
    EXPECT_EQ(out[12].as_double(), 52);
  }
}

// Where each access is tested, one that leaves its buffer stops the kernel: in a vector, in a masked one, in
// a single element.
TEST(CodegenBounds, StopAKernelThatLeavesABuffer) {
  auto generator = CodeGenerator::create({.tiers = Tiers::First, .checks_bounds = true});
  ASSERT_TRUE(generator) << generator.error().message;
  for (const int width : {1, 4}) {
    const Dim n = dim_var("n"), i = dim_var("i");
    const auto shifted = load(0, DType::float32(), dim_add(i, dim_const(1)));
    auto compiled =
        (*generator)
            ->compile(kernel("shifted", {{"a", DType::float32(), {n}}, {"out", DType::float32(), {n}, true}},
                             {n}, {loop_of(i, dim_sub(n, dim_const(1)), width, {store(1, i, shifted)})}));
    auto leaving =
        (*generator)
            ->compile(kernel("leaving", {{"a", DType::float32(), {n}}, {"out", DType::float32(), {n}, true}},
                             {n}, {loop_of(i, n, width, {store(1, i, shifted)})}));
    ASSERT_TRUE(compiled && leaving);
    for (const int64_t size : {8, 9, 11}) {
      GuardedArray a(DType::float32(), static_cast<size_t>(size)),
          out(DType::float32(), static_cast<size_t>(size));
      EXPECT_EQ(run(**compiled, {&a, &out}, {size}), 0) << width << " " << size;
      EXPECT_EQ(run(**leaving, {&a, &out}, {size}), loops::kOutOfBuffer) << width << " " << size;
    }
  }
}

// out[i] = a[i] by way of memory of the call's own.
TEST(CodegenScratch, IsTheCallsOwnOrStopsIt) {
  const auto copies = [](int64_t scratch) {
    const Dim i = dim_var("i"), j = dim_var("j"), n = dim_const(20);
    return compile(kernel("copies",
                          {{"a", DType::float32(), {n}},
                           {"out", DType::float32(), {n}, true},
                           {"between", DType::float32(), {dim_const(scratch)}, false, true}},
                          {},
                          {loop_of(i, n, 8, {store(2, i, load(0, DType::float32(), i))}),
                           loop_of(j, n, 8, {store(1, j, load(2, DType::float32(), j))})}));
  };
  GuardedArray a(DType::float32(), 20), out(DType::float32(), 20);
  for (size_t i = 0; i < 20; ++i) a.set(i, Scalar::from_double(DType::float32(), static_cast<double>(i)));
  EXPECT_EQ(run(*copies(20), {&a, &out}), 0);
  EXPECT_EQ(out.doubles(), a.doubles());
  EXPECT_EQ(run(*copies(int64_t{1} << 50), {&a, &out}), loops::kNoMemory);
}

}  // namespace
}  // namespace quern
