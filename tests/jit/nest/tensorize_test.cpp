// The schedule primitive `tensorize`: the loops that it makes, and what it cannot be error_of to.

#include <gtest/gtest.h>

#include <random>

#include "frontend/index/schedule_clause.h"
#include "jit/nest/nest.h"
#include "jit/rules/schedule_default.h"
#include "tests/jit/codegen/kernel_runner.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern::loops {
namespace {

using namespace build;

const DotIntrinsicPtr kDot =
    std::make_shared<const DotIntrinsic>(DotIntrinsic{"dot4", "llvm.x86.avx512.vpdpbusd.512", "avx512vnni",
                                                      DType::int32(), DType::uint8(), DType::int8(), 16, 4});

constexpr int64_t kRows = 5, kColumns = 23;

/// out[i, j] = sum over k of a[i, k] * b[k, j]
Computation product(DType left, DType right, int64_t depth) {
  const Dim i = dim_var("i"), j = dim_var("j"), k = dim_var("k");
  const Dim m = num(kRows), n = num(kColumns), depths = num(depth);
  const DType i32 = DType::int32();
  Computation c;
  c.buffers = {{"a", left, {m, depths}}, {"b", right, {depths, n}}, {"out", i32, {m, n}, true}};
  c.vars = {i, j};
  c.extents = {m, n};
  Reduction r{ReduceKind::Sum, {k}, {depths}};
  r.accumulator = i32;
  r.value = apply(ScalarOp::Mul, {cast(i32, load(0, left, dim_add(dim_mul(i, depths), k))),
                                  cast(i32, load(1, right, dim_add(dim_mul(k, n), j)))});
  c.reductions = {r};
  c.locals = 1;
  c.value = local(0, i32);
  c.store_offset = dim_add(dim_mul(i, n), j);
  return c;
}

Nest nest(DType left = DType::uint8(), DType right = DType::int8(), int64_t depth = 10) {
  return Nest(product(left, right, depth), {}, {kDot});
}

std::string error_of(Nest& nest, std::string_view text) {
  const auto schedule = parse_schedule(text);
  if (!schedule) return schedule.error().message;
  const auto done = nest.apply(*schedule);
  return done ? "" : done.error().message;
}

/// What is missing for the schedule to be complete.
std::string missing(Nest nest, std::string_view text) {
  EXPECT_EQ(error_of(nest, text), "");
  const auto complete = nest.is_complete();
  return complete ? "" : complete.error().message;
}

constexpr std::string_view kTile =
    "pack(b, 32, 4; ; j; k); ko, ki = split(k, 4); jo, ji = split(j, 32); reorder(jo, ko, ki, i, ji); "
    "vectorize(ji, 16); tensorize(ji, ki; dot4)";

TEST(Tensorize, TakesGroupsAndLeavesTheRestToPlainCode) {
  Nest n = nest();
  ASSERT_EQ(error_of(n, kTile), "");
  ASSERT_TRUE(n.is_complete());
  EXPECT_EQ(
      print_kernel(n.kernel()),
      "kernel(a: uint8[5, 10], b: int8[10, 23], out: int32[5, 23], b_packed: int8[1, 3, 32, 4]) dims() {\n"
      "  acc0: int32[5, 23 by 16] = 0\n"
      "  for ko in 0..2 {\n"
      "    for i in 0..5 unroll {\n"
      "      for ji in 0..23 vectorize 16 unroll {\n"
      "        acc0[i, ji] += dot4(a[10*i + 4*ko :4], b_packed[128*ko + 4*ji :4])\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "  for ki in 0..2 {\n"
      "    for i_2 in 0..5 unroll {\n"
      "      for ji_2 in 0..23 vectorize 16 unroll {\n"
      "        acc0[i_2, ji_2] += int32(a[10*i_2 + ki + 8]) * int32(b_packed[4*ji_2 + ki + 256])\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "  for i_3 in 0..5 unroll {\n"
      "    for ji_3 in 0..23 vectorize 16 unroll {\n"
      "      out[23*i_3 + ji_3] = acc0[i_3, ji_3]\n"
      "    }\n"
      "  }\n"
      "}\n");
}

TEST(Tensorize, SaysWhatItCannotBeAppliedTo) {
  const auto message = [](std::string_view text) {
    Nest n = nest();
    return error_of(n, text);
  };
  EXPECT_EQ(message("tensorize(j, k)"),
            "`tensorize` takes 2 groups, with a `;` between them, and not 1: `tensorize(l, m; x)`");
  EXPECT_EQ(message("tensorize(j, k; amx.dot)"),
            "tensorize(j, k; amx.dot): this machine has no intrinsic `amx.dot`");
  EXPECT_EQ(message("tensorize(l, k; dot4)"),
            "tensorize(l, k; dot4): there is no loop `l`; the loops are i, j, k");
  EXPECT_EQ(message("vectorize(j, 8); tensorize(j, k; dot4)"),
            "tensorize(j, k; dot4): `dot4` runs in lanes of `j`: `vectorize(j, 16)`");
  EXPECT_EQ(
      message("vectorize(j, 16); tensorize(j, k; dot4)"),
      "tensorize(j, k; dot4): `k` is not the inner part of a split of a reduction's loop into steps of 4");
  EXPECT_EQ(
      message("ko, ki = split(k, 2); vectorize(j, 16); tensorize(j, ki; dot4)"),
      "tensorize(j, ki; dot4): `ki` is not the inner part of a split of a reduction's loop into steps of 4");
  EXPECT_EQ(
      message("ko, ki = split(i, 4); vectorize(j, 16); tensorize(j, ki; dot4)"),
      "tensorize(j, ki; dot4): `ki` is not the inner part of a split of a reduction's loop into steps of 4");
  EXPECT_EQ(message("pack(b, 32, 0; ; j; k)"),
            "a number of a schedule is an integer from 1 to 1048576: `pack(b, n, g; l, …; m; k, …)`");
}

TEST(Tensorize, SaysWhatIsMissing) {
  const std::string split = "ko, ki = split(k, 4); vectorize(j, 16); tensorize(j, ki; dot4); ";
  EXPECT_EQ(missing(nest(), split), "`ki` is not the innermost loop around a tile");
  EXPECT_EQ(missing(nest(), split + "reorder(i, ko, ki, j); unroll(ki)"),
            "`dot4` takes 16 lanes of a tile, and the steps of `ki`, at once");
  EXPECT_EQ(missing(nest(), split + "reorder(i, ko, ki, j)"),
            "elements of `b` do not lie side by side along `ki`");
  EXPECT_EQ(missing(nest(DType::int8(), DType::int8()), kTile),
            "`dot4` adds up products of uint8 and int8 in int32");
}

TEST(Tensorize, KeepsWhatIsComputed) {
  std::mt19937 engine(9);
  if (!code_generator().has(*kDot)) GTEST_SKIP() << "this machine has no such instruction";
  for (const auto& [left, right] :
       {std::pair(DType::uint8(), DType::int8()), {DType::int8(), DType::uint8()}})
    for (const int64_t depth : {4, 8, 10, 11, 3}) {
      Nest n = nest(left, right, depth);
      ASSERT_EQ(error_of(n, kTile), "");
      const Kernel form = schedule_default(n.packed().at(0).form, 64);
      const auto size = [](int64_t count) { return static_cast<size_t>(count); };
      GuardedArray a(left, size(kRows * depth)), b(right, size(depth * kColumns));
      GuardedArray out(DType::int32(), size(kRows * kColumns));
      GuardedArray packed(right, size((depth + 3) / 4 * 32 * 4));
      for (GuardedArray* array : {&a, &b})
        for (size_t i = 0; i < array->size(); ++i)
          array->set(i, Scalar::from_int((*array)[0].dtype, static_cast<int64_t>(engine() % 256)));
      ASSERT_EQ(run(*compile(form), {&b, &packed}, {0, as_const(form.range).value_or(0)}), 0);
      ASSERT_EQ(run(*compile(n.kernel()), {&a, &b, &out, &packed}), 0);
      for (int64_t i = 0; i < kRows; ++i)
        for (int64_t j = 0; j < kColumns; ++j) {
          int64_t sum = 0;
          for (int64_t k = 0; k < depth; ++k)
            sum += a[size(i * depth + k)].as_int() * b[size(k * kColumns + j)].as_int();
          ASSERT_EQ(out[size(i * kColumns + j)].as_int(), sum) << depth << ": " << i << ", " << j;
        }
    }
}

}  // namespace
}  // namespace quern::loops
