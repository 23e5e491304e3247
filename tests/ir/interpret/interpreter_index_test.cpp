// Index expressions in the interpreter.

#include "tests/ir/interpret/interpreter_fixture.h"

namespace quern {
namespace {

TEST_F(InterpreterTest, ComprehensionsAreRowMajor) {
  ExprPtr body = b.cast(b.dim(dim_add(dim_mul(i, c(10)), j)), kInt);
  EXPECT_EQ(text(b.comprehension({i, j}, {c(2), c(3)}, body)),
            "Tensor[(2, 3), int32] [[0, 1, 2], [10, 11, 12]]");
  EXPECT_EQ(text(b.comprehension({i, j}, {c(2), c(0)}, body)), "Tensor[(2, 0), int32] [[], []]");
  EXPECT_EQ(text(b.comprehension({}, {}, b.i32(7))), "int32 7");
}

TEST_F(InterpreterTest, ExtentsMustHaveAValue) {
  const Variable* x = b.variable("x", tensor_of({n}));
  auto of_extent = [&](Dim extent) {
    return text(
        b.call(b.fn({x}, b.comprehension({i}, {extent}, b.f32(0)), {n}), {given("a", floats({2}, {1, 2}))}));
  };
  EXPECT_EQ(of_extent(dim_sub(n, c(1))), "Tensor[(1,), float32] [0]");
  EXPECT_EQ(of_extent(dim_sub(n, c(5))).find("error: the extent "), 0u);
  EXPECT_NE(of_extent(dim_sub(n, c(5))).find("is negative: -3"), std::string::npos);
  EXPECT_NE(of_extent(dim_mul(n, c(INT64_MAX))).find("overflows"), std::string::npos);
  EXPECT_NE(of_extent(dim_floordiv(c(1), dim_sub(n, c(2)))).find("divides by zero"), std::string::npos);
  EXPECT_NE(of_extent(dim_mul(n, c(int64_t{1} << 61))).find("is too large"), std::string::npos);
  EXPECT_NE(of_extent(dim_any()).find("is not known"), std::string::npos);
  EXPECT_NE(of_extent(m).find("the dim m has no value"), std::string::npos);
}

TEST_F(InterpreterTest, DimArithmeticInIndices) {
  ExprPtr x = given("x", ints({6}, {0, 1, 2, 3, 4, 5}));
  auto at = [&](Dim index) { return text(b.comprehension({i}, {c(6)}, b.read(x, {b.dim(index)}))); };
  EXPECT_EQ(at(dim_sub(c(5), i)), "Tensor[(6,), int32] [5, 4, 3, 2, 1, 0]");
  EXPECT_EQ(at(dim_floordiv(i, c(2))), "Tensor[(6,), int32] [0, 0, 1, 1, 2, 2]");
  EXPECT_EQ(at(dim_floormod(dim_sub(i, c(2)), c(6))), "Tensor[(6,), int32] [4, 5, 0, 1, 2, 3]");
  EXPECT_EQ(at(dim_add(dim_floordiv(dim_sub(i, c(5)), c(3)), c(2))),
            "Tensor[(6,), int32] [0, 0, 1, 1, 1, 2]");
  EXPECT_EQ(at(dim_min(i, c(3))), "Tensor[(6,), int32] [0, 1, 2, 3, 3, 3]");
  EXPECT_EQ(at(dim_max(i, c(3))), "Tensor[(6,), int32] [3, 3, 3, 3, 4, 5]");
}

TEST_F(InterpreterTest, ReadsOutOfBounds) {
  ExprPtr x = given("x", floats({5}, {1, 2, 3, 4, 5}));
  ExprPtr seven = b.scalar(Scalar::from_int(kIndex, 7)), minus = b.scalar(Scalar::from_int(kIndex, -1));
  EXPECT_EQ(text(b.read(x, {seven}, {true}, b.f32(9))), "float32 9");
  EXPECT_EQ(text(b.read(x, {minus}, {true}, b.f32(9))), "float32 9");
  ExprPtr read = b.read(x, {seven}, {true});
  EXPECT_EQ(text(read), "error: index 7 is out of bounds for axis 0 with extent 5");
  EXPECT_EQ(evaluate(read).error().origin, read->origin);
  EXPECT_EQ(text(b.read(x, {seven}, {false}, b.f32(9))),
            "error: internal: unproved read: index 7 is out of bounds for axis 0 with extent 5");
}

TEST_F(InterpreterTest, PaddedReads) {
  // [i < 4] => x[i - 1] else 0
  ExprPtr x = given("x", floats({2}, {1, 2}));
  ExprPtr read = b.read(x, {b.dim(dim_sub(i, c(1)))}, {true}, b.f32(0));
  EXPECT_EQ(text(b.comprehension({i}, {c(4)}, read)), "Tensor[(4,), float32] [0, 1, 2, 0]");
}

TEST_F(InterpreterTest, Gathers) {
  ExprPtr x = given("x", floats({3}, {10, 20, 30})), rows = given("rows", ints({4}, {2, 0, 1, 2}));
  ExprPtr index = b.cast(b.read(rows, {b.dim(i)}), kIndex);
  EXPECT_EQ(text(b.comprehension({i}, {c(4)}, b.read(x, {index}, {true}))),
            "Tensor[(4,), float32] [30, 10, 20, 30]");
}

TEST_F(InterpreterTest, Reductions) {
  ExprPtr x = given("x", floats({4}, {3, -1, 4, 4}));
  ExprPtr element = b.read(x, {b.dim(k)});
  auto reduce = [&](ReduceKind kind) { return text(b.reduce(kind, {k}, {c(4)}, element)); };
  EXPECT_EQ(reduce(ReduceKind::Sum), "float32 10");
  EXPECT_EQ(reduce(ReduceKind::Prod), "float32 -48");
  EXPECT_EQ(reduce(ReduceKind::Max), "float32 4");
  EXPECT_EQ(reduce(ReduceKind::Min), "float32 -1");
  EXPECT_EQ(reduce(ReduceKind::ArgMax), "index 2");
  EXPECT_EQ(reduce(ReduceKind::ArgMin), "index 1");
  ExprPtr positive = b.op(ScalarOp::Gt, {element, b.f32(0)});
  EXPECT_EQ(text(b.reduce(ReduceKind::Any, {k}, {c(4)}, positive)), "bool True");
  EXPECT_EQ(text(b.reduce(ReduceKind::All, {k}, {c(4)}, positive)), "bool False");
}

TEST_F(InterpreterTest, EmptyReductions) {
  ExprPtr x = given("x", floats({0}, {}));
  ExprPtr element = b.read(x, {b.dim(k)});
  EXPECT_EQ(text(b.reduce(ReduceKind::Sum, {k}, {c(0)}, element)), "float32 0");
  EXPECT_EQ(text(b.reduce(ReduceKind::Prod, {k}, {c(0)}, element)), "float32 1");
  EXPECT_EQ(text(b.reduce(ReduceKind::Max, {k}, {c(0)}, element)), "float32 -inf");
  EXPECT_EQ(text(b.reduce(ReduceKind::ArgMax, {k}, {c(0)}, element)), "error: argmax of an empty range");
}

TEST_F(InterpreterTest, ArgReductionsGiveRowMajorPositions) {
  ExprPtr x = given("x", floats({2, 3}, {-5, -4, -3, -9, -3, -8}));
  ExprPtr element = b.read(x, {b.dim(i), b.dim(j)});
  EXPECT_EQ(text(b.reduce(ReduceKind::ArgMax, {i, j}, {c(2), c(3)}, element)), "index 2");
  EXPECT_EQ(text(b.reduce(ReduceKind::ArgMin, {i, j}, {c(2), c(3)}, element)), "index 3");
  ExprPtr low = b.f32(-HUGE_VAL);
  EXPECT_EQ(text(b.reduce(ReduceKind::ArgMax, {i}, {c(2)}, low)), "index 0");
}

TEST_F(InterpreterTest, SmallFloatsAccumulateInFloat32) {
  ExprPtr one = b.scalar(Scalar::from_double(DType::float16(), 1)),
          small = b.scalar(Scalar::from_double(DType::float16(), 0.0004));
  // In float16, 1 + 0.0004 is 1 again; in float32 a thousand of these are 0.4.
  ExprPtr body = b.branch(b.op(ScalarOp::Eq, {b.dim(k), b.scalar(Scalar::from_int(kIndex, 0))}), one, small);
  EvaluationResult sum = evaluate(b.reduce(ReduceKind::Sum, {k}, {c(1001)}, body));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.value().scalar().dtype, DType::float16());
  EXPECT_NEAR(sum.value().scalar().as_double(), 1.4, 0.001);
}

TEST_F(InterpreterTest, IntegersWrap) {
  ExprPtr big = b.i32(INT32_MAX);
  EXPECT_EQ(text(b.op(ScalarOp::Add, {big, b.i32(1)})), "int32 -2147483648");
  EXPECT_EQ(text(b.reduce(ReduceKind::Sum, {k}, {c(2)}, big)), "int32 -2");
  ExprPtr byte = b.scalar(Scalar::from_int(DType::int8(), 127));
  EXPECT_EQ(text(b.op(ScalarOp::Add, {byte, b.scalar(Scalar::from_int(DType::int8(), 1))})), "int8 -128");
  EXPECT_EQ(text(b.reduce(ReduceKind::Sum, {k}, {c(2)}, byte)), "int8 -2");
}

TEST_F(InterpreterTest, PlainArithmeticEqualsApply) {
  DType dtypes[] = {DType::float32(), DType::float64(),           DType::int32(),
                    DType::int64(),   DType{DTypeCode::UInt, 32}, DType{DTypeCode::UInt, 64},
                    kIndex,           DType::float16(),           DType::int8(),
                    DType::uint8()};
  double samples[] = {0, -1, 1, 3, 0.1, -2.5, 1e9, -3e9, 1e18};
  for (DType dtype : dtypes)
    for (ScalarOp op : {ScalarOp::Add, ScalarOp::Sub, ScalarOp::Mul, ScalarOp::Div, ScalarOp::Max})
      for (double x : samples)
        for (double y : samples) {
          Scalar operands[] = {cast(Scalar::from_double(DType::float64(), x), dtype),
                               cast(Scalar::from_double(DType::float64(), y), dtype)};
          if (op == ScalarOp::Div && dtype.is_index() && operands[1].bits == 0) continue;
          EvaluationResult result = evaluate(b.op(op, {b.scalar(operands[0]), b.scalar(operands[1])}));
          ASSERT_TRUE(result);
          EXPECT_EQ(result.value().scalar(), apply(op, operands))
              << to_string(dtype) << " " << info(op).name << " " << x << " " << y;
        }
}

TEST_F(InterpreterTest, ReductionsOverSeveralRangesThatDependOnOuterOnes) {
  // [i < 3] => sum[j < i + 1, k < 2] 1
  ExprPtr sum = b.reduce(ReduceKind::Sum, {j, k}, {dim_add(i, c(1)), c(2)}, b.i32(1));
  EXPECT_EQ(text(b.comprehension({i}, {c(3)}, sum)), "Tensor[(3,), int32] [2, 4, 6]");
}

TEST_F(InterpreterTest, LetsAndConditionsInBodies) {
  // [i < 4] => let t = int32(i) * int32(i); if (t < 5) { t } else { -1 }
  const Variable* t = b.variable("t", integer);
  ExprPtr element = b.cast(b.dim(i), kInt);
  ExprPtr body = b.block({{t, b.op(ScalarOp::Mul, {element, element})}},
                         b.branch(b.op(ScalarOp::Lt, {b.var(t), b.i32(5)}), b.var(t), b.i32(-1)));
  EXPECT_EQ(text(b.comprehension({i}, {c(4)}, body)), "Tensor[(4,), int32] [0, 1, 4, -1]");
}

TEST_F(InterpreterTest, ConditionsInBodiesAreLazy) {
  ExprPtr x = given("x", floats({1}, {5}));
  ExprPtr zero = b.scalar(Scalar::from_int(kIndex, 0));
  ExprPtr body = b.branch(b.op(ScalarOp::Eq, {b.dim(i), zero}), b.read(x, {b.dim(i)}), b.f32(0));
  EXPECT_EQ(text(b.comprehension({i}, {c(3)}, body)), "Tensor[(3,), float32] [5, 0, 0]");
}

TEST_F(InterpreterTest, GraphsInsideBodies) {
  // Of the outer index: [i < 2] => sum[k < 3] ([j < 3] => int32(i * j))[k]
  ExprPtr inner = b.comprehension({j}, {c(3)}, b.cast(b.dim(dim_mul(i, j)), kInt));
  ExprPtr sum = b.reduce(ReduceKind::Sum, {k}, {c(3)}, b.read(inner, {b.dim(k)}));
  EXPECT_EQ(text(b.comprehension({i}, {c(2)}, sum)), "Tensor[(2,), int32] [0, 3]");
  // A field of a tuple, and a scalar variable of the graph.
  ExprPtr pair = b.tuple({given("x", ints({2}, {5, 6})), given("y", ints({}, {100}))});
  ExprPtr body = b.op(ScalarOp::Add, {b.read(b.field(pair, 0), {b.dim(i)}), b.field(pair, 1)});
  EXPECT_EQ(text(b.comprehension({i}, {c(2)}, body)), "Tensor[(2,), int32] [105, 106]");
  // A tensor and an element that are bound in the body, used by an operator and a function.
  const Variable *t = b.variable("t", tensor_of({c(2)}, kInt)), *e = b.variable("e", integer);
  const Variable* p = b.variable("p", integer);
  ExprPtr row = b.comprehension({j}, {c(2)}, b.cast(b.dim(dim_add(i, j)), kInt));
  ExprPtr doubled = b.call(b.fn({p}, add(b.var(p), b.var(p))), {b.var(e)});
  ExprPtr zero = b.scalar(Scalar::from_int(kIndex, 0));
  ExprPtr block = b.block({{t, row}, {e, b.read(b.var(t), {zero}, {true})}}, add(doubled, b.i32(1)));
  EXPECT_EQ(text(b.comprehension({i}, {c(3)}, block)), "Tensor[(3,), int32] [1, 3, 5]");
}

TEST_F(InterpreterTest, TensorsThatAreReadAreEvaluatedBeforeTheFirstElement) {
  ExprPtr x = given("x", floats({1}, {5}));
  ExprPtr element = b.read(b.view(x, {c(7)}), {b.dim(i)}, {true});
  ExprPtr no = b.scalar(Scalar::from_int(DType::boolean(), 0));
  const std::string failure =
      "error: a tensor of 1 elements cannot be viewed as Tensor[(7,), float32], which has 7";
  EXPECT_EQ(text(b.comprehension({i}, {c(2)}, b.branch(no, element, b.f32(1)))), failure);
  EXPECT_EQ(text(b.comprehension({i}, {c(0)}, element)), failure);
  EXPECT_EQ(text(b.comprehension({i}, {c(2)}, b.branch(no, b.read(x, {b.dim(i)}, {true}), b.f32(1)))),
            "Tensor[(2,), float32] [1, 1]");
}

TEST_F(InterpreterTest, Contraction) {
  const int64_t rows = 3, columns = 4, depth = 5;
  TensorPtr x = HostTensor::make(kFloat, {rows, depth}), y = HostTensor::make(kFloat, {columns, depth});
  for (int64_t p = 0; p < x->size(); ++p) x->elements<float>()[p] = static_cast<float>(p % 7) - 3;
  for (int64_t p = 0; p < y->size(); ++p) y->elements<float>()[p] = static_cast<float>(p % 5) - 1;
  ExprPtr product = b.op(ScalarOp::Mul, {b.read(given("x", x), {b.dim(i), b.dim(k)}),
                                         b.read(given("y", y), {b.dim(j), b.dim(k)})});
  EvaluationResult result = evaluate(
      b.comprehension({i, j}, {c(rows), c(columns)}, b.reduce(ReduceKind::Sum, {k}, {c(depth)}, product)));
  ASSERT_TRUE(result);
  TensorPtr z = result.value().as_tensor();
  for (int64_t p = 0; p < rows; ++p)
    for (int64_t q = 0; q < columns; ++q) {
      float sum = 0;
      for (int64_t r = 0; r < depth; ++r)
        sum += x->elements<float>()[p * depth + r] * y->elements<float>()[q * depth + r];
      EXPECT_EQ(z->elements<float>()[p * columns + q], sum);
    }
}

}  // namespace
}  // namespace quern
