#include <gtest/gtest.h>

#include "tests/dtypes.h"
#include "tests/jit/loops/loops_builder.h"

namespace quern {
namespace {

using namespace loops::build;
using loops::Kernel;

/// relu(a @ b) for a matrix and a vector. Dims are made in an order of the caller's choice.
Kernel matvec(const std::string& name, bool reverse_order) {
  const Dim early = dim_var(reverse_order ? "r" : "n");
  const Dim i = dim_var("i");
  const Dim late = dim_var(reverse_order ? "n" : "r");
  const Dim n = reverse_order ? late : early;
  const Dim r = reverse_order ? early : late;
  const Dim at = dim_add(dim_mul(num(64), i), r);
  const auto product = apply(ScalarOp::Mul, {load(0, kFloat, at), load(1, kFloat, r)});
  return kernel(name, {{"a", kFloat, {n, num(64)}}, {"b", kFloat, {num(64)}}, {"out", kFloat, {n}, true}},
                {n},
                {loop(i, n,
                      {declare(0, kFloat, constant(kFloat, 0)),
                       vectorize(r, num(64), 16, {reduce(ReduceKind::Sum, 0, product)}),
                       store(2, i, apply(ScalarOp::Max, {local(0, kFloat), constant(kFloat, 0)}))})},
                1);
}

TEST(LoopsPrint, NamesForPeople) {
  EXPECT_EQ(print_kernel(matvec("matvec", false)),
            "kernel(a: float32[n, 64], b: float32[64], out: float32[n]) dims(n) {\n"
            "  for i in 0..n {\n"
            "    acc0: float32 = 0\n"
            "    for r in 0..64 vectorize 16 {\n"
            "      acc0 += a[64*i + r] * b[r]\n"
            "    }\n"
            "    out[i] = max(acc0, 0)\n"
            "  }\n"
            "}\n");
}

TEST(LoopsPrint, CanonicalTextHasNoNamesAndNoOrderOfMaking) {
  EXPECT_EQ(canonical_text(matvec("one", false)),
            "kernel(b0: float32[d0, 64], b1: float32[64], b2: out float32[d0]) dims(d0) {\n"
            "  for i1 in 0..d0 {\n"
            "    acc0: float32 = 0x0:float32\n"
            "    for i2 in 0..64 vectorize 16 {\n"
            "      acc0 += b0[64*i1 + i2] * b1[i2]\n"
            "    }\n"
            "    b2[i1] = max(acc0, 0x0:float32)\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(canonical_text(matvec("one", false)), canonical_text(matvec("another", true)));
}

TEST(LoopsPrint, EveryKindOfValueAndStatement) {
  const Dim n = dim_var("n");
  const Dim m = dim_var("m");
  const Dim i = dim_var("i");
  const Dim j = dim_var("j");
  const Dim from = dim_sub(dim_add(dim_mul(n, i), j), num(1));
  const auto id = cast(kIndex, load(1, DType::int32(), i));
  const auto row =
      load_trap(gather_value(0, kFloat, j, id, dim_mul(n, m)), {{nullptr, id, n}, {j, nullptr, m}}, 1);
  const auto padded =
      load_or(load_value(0, kFloat, from), {{dim_floordiv(from, m), nullptr, n}}, constant(kFloat, 0.5));
  const auto chosen = select(apply(ScalarOp::Lt, {index(dim_floormod(i, m)), index(num(3))}), row, padded);
  const auto nested = apply(ScalarOp::Sub, {apply(ScalarOp::Exp, {chosen}),
                                            apply(ScalarOp::Add, {local(0, kFloat), local(0, kFloat)})});
  Kernel k = kernel(
      "all", {{"a", kFloat, {n, m}}, {"ids", DType::int32(), {n}}, {"out", kFloat, {dim_min(n, m)}, true}},
      {n, m},
      {loop(i, n,
            {declare(0, kFloat, constant(lowest(kFloat))), declare(1, kIndex, index(num(0))),
             loop(j, dim_broadcast(n, m), {arg_reduce(ReduceKind::ArgMax, 0, 1, nested, index(j))}),
             store(2, dim_max(i, dim_sub(num(3), m)), local(0, kFloat))}),
       loop(j, m, {})},
      2);
  k.traps = {"ids is out of bounds"};
  EXPECT_EQ(print_kernel(k),
            "kernel(a: float32[n, m], ids: int32[n], out: float32[min(m, n)]) dims(n, m) {\n"
            "  for i in 0..n {\n"
            "    acc0: float32 = -inf\n"
            "    acc1: index = 0\n"
            "    for j in 0..broadcast(n, m) {\n"
            "      acc0, acc1 argmax= exp(select((i % m) < 3, (a[j + index(ids[i])*(m*n)] if 0 <= "
            "index(ids[i]) < n, "
            "0 <= j < m else trap 1), (a[i*n + j - 1] if 0 <= (i*n + j - 1) / m < n else 0.5))) - (acc0 + "
            "acc0), j\n"
            "    }\n"
            "    out[max(-m + 3, i)] = acc0\n"
            "  }\n"
            "  for j_2 in 0..m {\n"
            "  }\n"
            "}\n"
            "// trap 1: ids is out of bounds\n");
}

TEST(LoopsPrint, CanonicalTextTellsDifferentKernelsApart) {
  const auto text = [](const loops::ValuePtr& value, bool vectorized) {
    const Dim i = dim_var("i");
    return canonical_text(kernel("k", {{"out", value->dtype, {num(8)}, true}}, {},
                                 {loop_of(i, num(8), vectorized ? 8 : 1, {store(0, i, value)})}));
  };
  const std::string zero = text(constant(kFloat, 0), false);
  EXPECT_NE(zero, text(constant(kFloat, -0.0), false));
  EXPECT_NE(zero, text(constant(DType::int32(), 0), false));
  EXPECT_NE(zero, text(constant(kFloat, 0), true));
  EXPECT_NE(text(index(num(3)), false), text(constant(kIndex, 3), false));
}

}  // namespace
}  // namespace quern
