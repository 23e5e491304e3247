// The cost of loops, counted by hand.

#include "ide/loop_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ide/footprint.h"
#include "jit/vm/operation_count.h"
#include "tests/jit/loops/loops_builder.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern::loops {
namespace {

using namespace build;

const DType kFloat = DType::float32();

Buffer buffer(const char* name, std::vector<Dim> shape) { return {name, kFloat, std::move(shape)}; }
ValuePtr x_at(Dim offset) { return load(0, kFloat, offset); }
ValuePtr product(ValuePtr a, ValuePtr b) { return apply(ScalarOp::Mul, {std::move(a), std::move(b)}); }

struct Expected {
  std::string operations, bytes;
  bool is_exact = true;
};
/// The costs of a kernel and of its loops, in the order of its text.
void expect_costs(const Kernel& kernel, const std::vector<Expected>& expected) {
  SCOPED_TRACE(print_with_costs(kernel));
  const std::vector<LoopCost> costs = loop_costs(kernel);
  ASSERT_EQ(costs.size(), expected.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(costs[i].operations ? to_string(costs[i].operations) : "?", expected[i].operations);
    EXPECT_EQ(to_string(costs[i].bytes), expected[i].bytes);
    EXPECT_EQ(costs[i].is_exact, expected[i].is_exact);
  }
}

// x[2, 3] times the transposed w[4, 3]: a multiplication and an addition for each of 2 * 3 * 4 terms.
TEST(LoopCost, OfAProduct) {
  const Dim i = dim_var("i"), j = dim_var("j"), r = dim_var("r");
  const Dim row = dim_mul(num(3), i), column = dim_mul(num(3), j);
  const Kernel k = kernel(
      "k", {buffer("x", {num(2), num(3)}), buffer("w", {num(4), num(3)}), buffer("out", {num(2), num(4)})},
      {},
      {loop(i, num(2),
            {vectorize(j, num(4), 16,
                       {declare(0, kFloat, constant(kFloat, 0)),
                        loop(r, num(3),
                             {reduce(ReduceKind::Sum, 0,
                                     product(x_at(dim_add(row, r)), load(1, kFloat, dim_add(column, r))))}),
                        store(2, dim_add(dim_mul(num(4), i), j), local(0, kFloat))})})},
      1);
  expect_costs(k, {{"48", "104"}, {"48", "104"}, {"24", "76"}, {"6", "24"}});
  EXPECT_EQ(print_with_costs(k),
            "kernel(x: float32[2, 3], w: float32[4, 3], out: float32[2, 4]) dims() {  // 48 FLOP, 104 bytes\n"
            "  for i in 0..2 {  // 2 steps, 48 FLOP, 104 bytes\n"
            "    for j in 0..4 vectorize 16 {  // 4 steps in 1 vector, 24 FLOP, 76 bytes\n"
            "      acc0: float32 = 0\n"
            "      for r in 0..3 {  // 3 steps, 6 FLOP, 24 bytes\n"
            "        acc0 += x[3*i + r] * w[3*j + r]\n"
            "      }\n"
            "      out[4*i + j] = acc0\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(LoopCost, OfAReduction) {
  const Dim i = dim_var("i"), r = dim_var("r"), n = dim_var("n");
  const Kernel k = kernel(
      "k", {buffer("x", {n, num(100)}), buffer("out", {n})}, {n},
      {loop(i, n,
            {declare(0, kFloat, constant(kFloat, 0)),
             vectorize(r, num(100), 16, {reduce(ReduceKind::Max, 0, x_at(dim_add(dim_mul(num(100), i), r)))}),
             store(1, i, local(0, kFloat))})},
      1);
  expect_costs(k, {{"100*n", "404*n"}, {"100*n", "404*n"}, {"100", "400"}});
  EXPECT_NE(print_with_costs(k).find("  // n steps, 100*n FLOP, 404*n bytes\n"), std::string::npos);
  EXPECT_NE(print_with_costs(k).find("  // 100 steps in 7 vectors, 100 FLOP, 400 bytes\n"),
            std::string::npos);
}

/// Of loops around a statement that negates x at an offset.
void expect_bytes_of(Dim offset, std::vector<ide::LoopRange> around, int64_t size, const Expected& all) {
  Block body{reduce(ReduceKind::Sum, 0, x_at(offset))};
  for (const ide::LoopRange& range : around) body = {loop(range.var, range.extent, body)};
  body.insert(body.begin(), declare(0, kFloat, constant(kFloat, 0)));
  const std::vector<LoopCost> costs = loop_costs(kernel("k", {buffer("x", {num(size)})}, {}, body, 1));
  SCOPED_TRACE(to_string(offset));
  ASSERT_TRUE(costs[0].operations);
  EXPECT_EQ(to_string(costs[0].operations), all.operations);
  EXPECT_EQ(to_string(costs[0].bytes), all.bytes);
  EXPECT_EQ(costs[0].is_exact, all.is_exact);
}

TEST(LoopCost, CountsEachElementOnce) {
  const Dim i = dim_var("i"), r = dim_var("r");
  const auto times = [](int64_t factor, Dim dim) { return dim_mul(num(factor), dim); };
  // A window: 10 and 2 more.
  expect_bytes_of(dim_add(i, r), {{r, num(3)}, {i, num(10)}}, 100, {"30", "48"});
  // With steps of 2 its 10 places reach 19 elements, and with steps of 4 they do not touch.
  expect_bytes_of(dim_add(times(2, i), r), {{r, num(3)}, {i, num(10)}}, 100, {"30", "84"});
  expect_bytes_of(dim_add(times(4, i), r), {{r, num(3)}, {i, num(10)}}, 100, {"30", "120"});
  // A column, one that is read again and again, and a vector from behind.
  expect_bytes_of(times(10, i), {{i, num(5)}}, 100, {"5", "20"});
  expect_bytes_of(times(10, i), {{r, num(7)}, {i, num(5)}}, 100, {"35", "20"});
  expect_bytes_of(dim_sub(num(9), i), {{i, num(10)}}, 100, {"10", "40"});
  // A triangle: 1 + 2 + 3 + 4 elements in rows of 10.
  expect_bytes_of(dim_add(times(10, i), r), {{r, dim_add(i, num(1))}, {i, num(4)}}, 100, {"10", "40"});
  // A part of a row, which depends on what is no step through memory.
  expect_bytes_of(r, {{r, dim_add(i, num(1))}, {i, num(4)}}, 100, {"10", "16", false});
  // Every third element of overlapping rows: the count is a bound, and no more than there are.
  expect_bytes_of(dim_add(times(3, r), times(4, i)), {{r, num(4)}, {i, num(4)}}, 100, {"16", "64", false});
  expect_bytes_of(dim_add(times(3, r), times(4, i)), {{r, num(4)}, {i, num(4)}}, 12, {"16", "48", false});
  // Not linear in the loop's variable.
  expect_bytes_of(dim_floordiv(i, num(2)), {{i, num(10)}}, 20, {"10", "80", false});
}

TEST(LoopCost, OfATailOfParts) {
  const Dim part = dim_var("part"), i = dim_var("i"), n = dim_var("n");
  for (Dim all : {n, num(100)}) {
    const Dim rest = dim_sub(all, dim_mul(num(16), part));
    const Dim parts = dim_floordiv(dim_add(all, num(15)), num(16));
    const Dim at = dim_add(dim_mul(num(16), part), i);
    const Kernel k = kernel(
        "k", {buffer("x", {all}), buffer("out", {all})}, {n},
        {loop(part, parts,
              {vectorize(i, dim_min(num(16), rest), 16, {store(1, at, product(x_at(at), x_at(at)))})})});
    const std::string whole = all == n ? "n" : "100", bytes = all == n ? "8*n" : "800";
    const std::string inner = to_string(dim_min(num(16), rest));
    expect_costs(
        k, {{whole, bytes}, {whole, bytes}, {inner, to_string(dim_mul(num(8), dim_min(num(16), rest)))}});
  }
}

TEST(LoopCost, OfNeighboursAndOfParts) {
  const Dim i = dim_var("i"), j = dim_var("j");
  const Kernel stencil = kernel(
      "k", {buffer("x", {num(50)}), buffer("out", {num(50)})}, {},
      {loop(i, num(10),
            {store(1, i, product(x_at(i), product(x_at(dim_add(i, num(2))), x_at(dim_add(i, num(1))))))})});
  expect_costs(stencil, {{"20", "88"}, {"20", "88"}});
  // Columns 0 to 6 and 7 to 9 of rows of 10: no element is in both.
  const auto columns = [&](Dim row, Dim column, int64_t first, int64_t count) {
    const Dim at = dim_add(dim_add(dim_mul(num(10), row), column), num(first));
    return loop(row, num(5), {loop(column, num(count), {store(1, at, constant(kFloat, 0))})});
  };
  const Dim k = dim_var("k"), l = dim_var("l");
  expect_costs(kernel("k", {buffer("x", {num(50)}), buffer("out", {num(5), num(10)})}, {},
                      {columns(i, j, 0, 7), columns(k, l, 7, 3)}),
               {{"0", "200"}, {"0", "140"}, {"0", "28"}, {"0", "60"}, {"0", "12"}});
  // One column is in both.
  expect_costs(kernel("k", {buffer("x", {num(50)}), buffer("out", {num(5), num(10)})}, {},
                      {columns(i, j, 0, 7), columns(k, l, 6, 2)}),
               {{"0", "180", false}, {"0", "140"}, {"0", "28"}, {"0", "40"}, {"0", "8"}});
}

TEST(LoopCost, IsABoundWhereDataAndConditionsDecide) {
  const Dim i = dim_var("i");
  const ValuePtr index = load(1, DType::index(), i);
  const std::vector<Buffer> buffers{
      buffer("x", {num(100)}), {"at", DType::index(), {num(8)}}, buffer("out", {num(8)})};
  const Kernel gather =
      kernel("k", buffers, {},
             {loop(i, num(8), {store(2, i, make(gather_value(0, kFloat, num(0), index, num(1))))})});
  const std::string bytes = std::to_string(400 + 8 * DType::index().bytes() + 32);
  expect_costs(gather, {{"0", bytes, false}, {"0", bytes, false}});
  const ValuePtr padded = load_or(load_value(0, kFloat, dim_sub(i, num(1))),
                                  {{dim_sub(i, num(1)), nullptr, num(100), num(1)}}, constant(kFloat, 0));
  const Kernel padding = kernel("k", buffers, {}, {loop(i, num(8), {store(2, i, padded)})});
  expect_costs(padding, {{"0", "64", false}, {"0", "64", false}});
}

// A dot product of groups of two: two multiplications and two additions for each lane and step.
TEST(LoopCost, OfDotInstructions) {
  DotIntrinsic dot{"dot2", "llvm.dot2", "", kFloat, DType::bfloat16(), DType::bfloat16()};
  dot.lanes = 16;
  dot.group = 2;
  const Dim j = dim_var("j"), r = dim_var("r");
  const DType narrow = DType::bfloat16();
  const auto product_of = [&](int64_t terms, Dim stride) {
    DotValue value{kFloat};
    value.dot = std::make_shared<const DotIntrinsic>(dot);
    value.a = make(load_value(0, narrow, dim_mul(num(std::max<int64_t>(2, terms)), r)));
    value.b = make(load_value(1, narrow, dim_add(dim_mul(num(64), r), dim_mul(num(2), j))));
    value.terms = terms;
    value.stride = stride;
    return make(std::move(value));
  };
  const std::vector<Buffer> buffers{
      {"a", narrow, {num(100)}}, {"b", narrow, {num(10), num(64)}}, buffer("out", {num(16)})};
  const auto loops = [&](ValuePtr value) {
    return kernel(
        "k", buffers, {},
        {declare(0, kFloat, constant(kFloat, 0)),
         loop(r, num(5), {vectorize(j, num(16), 16, {reduce(ReduceKind::Sum, 0, std::move(value))})})},
        1);
  };
  // a: 5 groups of 2. b: in each of 5 rows of 64, 16 groups of 2.
  expect_costs(loops(product_of(0, nullptr)), {{"320", "340"}, {"320", "340"}, {"64", "68"}});
  // Of matrices, 4 terms at once, whose groups of b are 32 elements apart.
  dot.rows = 16;
  expect_costs(loops(product_of(4, num(32))), {{"640", "680"}, {"640", "680"}, {"128", "136"}});
}

// However a kernel is scheduled, its loops are the arithmetic that the primitive specifies.
TEST(LoopCost, IsWhatThePrimitiveSpecifies) {
  const char* const kPrograms[] = {
      "def @main(%x: Tensor[(100, 300), float32], %w: Tensor[(500, 300), float32]) { nn.dense(%x, %w) }",
      "def @main(%x: Tensor[(7, 13), float32], %w: Tensor[(9, 13), float32], %b: Tensor[(9,), float32]) {"
      " nn.relu(nn.dense(%x, %w) + %b) }",
      "def @main(%x: Tensor[(1, 8, 30, 30), float32], %w: Tensor[(16, 8, 3, 3), float32]) {"
      " nn.conv2d(%x, %w, padding=(1, 1)) }",
      "def @main(%x: Tensor[(1000,), float32]) { exp(%x) * 2.0 + 1.0 }",
      "def @main(%x: Tensor[(50, 33), float32]) { nn.softmax(%x) }",
      "def @main(%x: Tensor[(33, 70), float32]) { transpose(%x) * 2.0 }",
      "def @main(%x: Tensor[(2, 16, 16, 3), float32]) { nn.max_pool2d(%x, pool_size=(2, 2), strides=(2, 2)) "
      "}",
      "def @main(%x: Tensor[(40,), float32]) { cumsum(%x) }",
  };
  for (const char* program : kPrograms) {
    const PrimitivesOfMain main(program);
    ASSERT_EQ(main.primitives.size(), 1u) << program;
    const Lowered lowered = lowered_main(program);
    const LoopCost all = loop_costs(lowered.kernel).front();
    EXPECT_EQ(all.operations, operation_count(*main.primitives[0]))
        << program << print_with_costs(lowered.kernel);
  }
}

}  // namespace
}  // namespace quern::loops
