#include "tests/ir/interpret/interpreter_fixture.h"

namespace quern {
namespace {

// --- graphs ------------------------------------------------------------------------------------------------

TEST_F(InterpreterTest, ConstantsTuplesAndFields) {
  EXPECT_EQ(text(b.f32(1.5)), "float32 1.5");
  EXPECT_EQ(text(b.tuple({})), "()");
  EXPECT_EQ(text(b.tuple({b.i32(1)})), "(int32 1,)");
  EXPECT_EQ(text(b.field(b.tuple({b.i32(1), b.i32(2)}), 1)), "int32 2");
  EXPECT_EQ(text(b.constant(floats({2, 2}, {1, 2, 3, 4}))), "Tensor[(2, 2), float32] [[1, 2], [3, 4]]");
}

TEST_F(InterpreterTest, BlocksBindInOrder) {
  const Variable *x = b.variable("x", integer), *y = b.variable("y", integer);
  ExprPtr block = b.block({{x, b.i32(2)}, {y, add(b.var(x), b.i32(3))}}, add(b.var(x), b.var(y)));
  EXPECT_EQ(text(block), "int32 7");
}

TEST_F(InterpreterTest, OnlyTheChosenArmIsEvaluated) {
  ExprPtr yes = b.scalar(Scalar::from_int(DType::boolean(), 1));
  EXPECT_EQ(text(b.branch(yes, b.i32(1), b.error())), "int32 1");
  EXPECT_EQ(text(b.branch(yes, b.error(), b.i32(1))), "error: this expression has errors");
}

TEST_F(InterpreterTest, ClosuresCaptureTheirValues) {
  const Variable *x = b.variable("x", integer), *y = b.variable("y", integer);
  Type type = function_type(std::vector<Type>{integer}, integer);
  const Variable* f = b.variable("f", type);
  ExprPtr make = b.fn({x}, b.fn({y}, add(b.var(x), b.var(y))));
  EXPECT_EQ(text(b.block({{f, b.call(make, {b.i32(40)})}}, b.call(b.var(f), {b.i32(2)}))), "int32 42");
  EXPECT_EQ(text(make), "fn (int32) -> fn (int32) -> int32");
}

TEST_F(InterpreterTest, ClosuresOutliveTheStatementThatMadeThem) {
  const Variable *x = b.variable("x", integer), *y = b.variable("y", integer);
  ExprPtr make = b.fn({x}, b.fn({y}, add(b.var(x), b.var(y))));
  EvaluationResult closure = evaluate(b.call(make, {b.i32(40)}));
  ASSERT_TRUE(closure);
  const Variable* f = b.variable("f", function_type(std::vector<Type>{integer}, integer));
  environment[f] = closure.value();
  EXPECT_EQ(text(b.call(b.var(f), {b.i32(2)})), "int32 42");
}

TEST_F(InterpreterTest, LetBoundFunctionsRecurse) {
  // let f = fn (x) { if (x < 1) { 0 } else { x + f(x - 1) } }; f(100)
  const Variable* x = b.variable("x", integer);
  const Variable* f = b.variable("f", function_type(std::vector<Type>{integer}, integer));
  ExprPtr again = b.call(b.var(f), {add(b.var(x), b.i32(-1))});
  ExprPtr body = b.branch(arithmetic(ScalarOp::Lt, b.var(x), b.i32(1)), b.i32(0), add(b.var(x), again));
  EXPECT_EQ(text(b.block({{f, b.fn({x}, body)}}, b.call(b.var(f), {b.i32(100)}))), "int32 5050");
}

TEST_F(InterpreterTest, TailCallsRunInConstantStack) {
  // def @loop(x, s) { if (x < 1) { s } else { let y = x + -1; @loop(y, s + x) } }
  const Variable *x = b.variable("x", integer), *s = b.variable("s", integer), *y = b.variable("y", integer);
  ExprPtr loop = b.global("loop", function_type(std::vector<Type>{integer, integer}, integer));
  ExprPtr again = b.block({{y, add(b.var(x), b.i32(-1))}}, b.call(loop, {b.var(y), add(b.var(s), b.var(x))}));
  define("loop", b.fn({x, s}, b.branch(arithmetic(ScalarOp::Lt, b.var(x), b.i32(1)), b.var(s), again)));
  EXPECT_EQ(text(b.call(loop, {b.i32(60'000), b.i32(0)})), "int32 1800030000");
}

TEST_F(InterpreterTest, RecursionTooDeepIsAnError) {
  const Variable* x = b.variable("x", integer);
  ExprPtr f = b.global("f", function_type(std::vector<Type>{integer}, integer));
  ExprPtr again = b.call(f, {add(b.var(x), b.i32(-1))});
  define("f",
         b.fn({x}, b.branch(arithmetic(ScalarOp::Lt, b.var(x), b.i32(1)), b.i32(0), add(b.i32(1), again))));
  on_large_stack([&] {
    EXPECT_EQ(text(b.call(f, {b.i32(9'000)})), "int32 9000");
    EvaluationResult endless = evaluate(b.call(f, {b.i32(1'000'000)}));
    ASSERT_FALSE(endless);
    EXPECT_EQ(endless.error().message, "the recursion is too deep");
    EXPECT_EQ(endless.error().calls, std::vector<Origin>(64, again->origin));
  });
}

TEST_F(InterpreterTest, ErrorsTellTheirCalls) {
  // def @g() { <error> }   def @f() { (@g(),) }   def @t() { @f() }   (@t(),)
  ExprPtr mistake = b.error();
  Type type = function_type({}, unit_type());
  ExprPtr call_g = b.call(b.global("g", type), {}), call_f = b.call(b.global("f", type), {});
  ExprPtr call_t = b.call(b.global("t", type), {});
  define("g", b.fn({}, mistake));
  define("f", b.fn({}, b.tuple({call_g})));
  define("t", b.fn({}, call_f));
  EvaluationResult result = evaluate(b.tuple({call_t}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().origin, mistake->origin);
  EXPECT_EQ(result.error().calls, (std::vector<Origin>{call_g->origin, call_f->origin, call_t->origin}));
  // Calls in tail position are told of too, the outermost one as well.
  EXPECT_EQ(evaluate(call_t).error().calls,
            (std::vector<Origin>{call_g->origin, call_f->origin, call_t->origin}));
}

TEST_F(InterpreterTest, GlobalsAreValuesAndMayBeMissing) {
  const Variable* x = b.variable("x", integer);
  ExprPtr inc = b.global("inc", function_type(std::vector<Type>{integer}, integer));
  define("inc", b.fn({x}, add(b.var(x), b.i32(1))));
  const Variable* f = b.variable("f", inc->type);
  EXPECT_EQ(text(b.block({{f, inc}}, b.call(b.var(f), {b.i32(1)}))), "int32 2");
  EXPECT_EQ(text(b.call(b.global("lost", inc->type), {b.i32(1)})),
            "error: the definition of @lost has errors");
}

TEST_F(InterpreterTest, ConstructorsAndData) {
  Type list = data_type("List", 1, std::vector<Type>{integer});
  auto constructors = data_constructors("List", 1, {{"Cons", {"", ""}}, {"Nil", {}}});
  ExprPtr nil = b.construct(list, constructors[1], {});
  EXPECT_EQ(text(b.construct(list, constructors[0], {b.i32(1), nil})), "List[int32] [1]");
}

TEST_F(InterpreterTest, PrintLoadSave) {
  ExprPtr x = given("x", ints({2}, {1, 2}));
  EXPECT_EQ(text(b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, x, nullptr, b.i32(3)},
                             {"x: ", "", " and ", ""})),
            "()");
  EXPECT_EQ(host.log, "x: [1, 2] and 3\n");
  EXPECT_EQ(text(b.intrinsic(IntrinsicKind::Save, unit_type(), {nullptr, x}, {"a.npy", ""})), "()");
  const IntrinsicExpr* load =
      b.intrinsic(IntrinsicKind::Load, tensor_of({n}, kInt), {nullptr, nullptr}, {"a.npy", ""});
  EXPECT_EQ(text(load), "Tensor[(2,), int32] [1, 2]");
  ExprPtr lost = b.intrinsic(IntrinsicKind::Load, tensor_of({n}, kInt), {nullptr, nullptr}, {"b.npy", ""});
  EvaluationResult result = evaluate(lost);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "there is no file b.npy");
  EXPECT_EQ(result.error().origin, lost->origin);
  EXPECT_EQ(text(b.intrinsic(IntrinsicKind::Save, unit_type(), {nullptr, x}, {"", ""})),
            "error: a path is wanted");
}

// --- dims --------------------------------------------------------------------------------------------------

TEST_F(InterpreterTest, DimsAreBoundFromArguments) {
  // def @f[n, m](x: Tensor[(n, m), float32]) { (n, m) }
  const Variable* x = b.variable("x", tensor_of({n, m}));
  ExprPtr body = b.tuple({b.dim(n), b.dim(dim_mul(m, c(2)))});
  define("f", b.fn({x}, body, {n, m}), {n, m});
  ExprPtr f = b.global("f", function_type(std::vector<Type>{x->type}, body->type), {c(1), c(1)});
  EXPECT_EQ(text(b.call(f, {given("a", floats({2, 3}, std::vector<float>(6)))})), "(index 2, index 6)");
}

TEST_F(InterpreterTest, ArgumentsThatDisagreeAreAnError) {
  const Variable *x = b.variable("x", tensor_of({n})), *y = b.variable("y", tensor_of({n}));
  ExprPtr f = b.fn({x, y}, b.dim(n), {n});
  ExprPtr call = b.call(f, {given("a", floats({2}, {1, 2})), given("b", floats({3}, {1, 2, 3}))});
  EXPECT_EQ(text(call),
            "error: the argument %y does not fit: axis 0 of Tensor[(3,), float32] has extent 3, but n is 2");
}

TEST_F(InterpreterTest, CompoundExtentsWaitForTheirVariables) {
  const Variable *x = b.variable("x", tensor_of({dim_mul(n, m)})), *y = b.variable("y", tensor_of({n, m}));
  ExprPtr f = b.fn({x, y}, b.dim(m), {n, m});
  ExprPtr six = given("a", floats({6}, std::vector<float>(6))),
          five = given("b", floats({5}, std::vector<float>(5)));
  ExprPtr two_three = given("c", floats({2, 3}, std::vector<float>(6)));
  EXPECT_EQ(text(b.call(f, {six, two_three})), "index 3");
  EXPECT_EQ(text(b.call(f, {five, two_three})).find("error: the argument %x does not fit: axis 0 of"), 0u);
}

TEST_F(InterpreterTest, NestedFunctionsSeeTheDimsAround) {
  const Variable *x = b.variable("x", tensor_of({n})), *y = b.variable("y", tensor_of({m}));
  ExprPtr inner = b.fn({y}, b.tuple({b.dim(n), b.dim(m)}), {m});
  ExprPtr outer = b.fn({x}, b.call(inner, {b.constant(floats({3}, {1, 2, 3}))}), {n});
  EXPECT_EQ(text(b.call(outer, {given("a", floats({2}, {1, 2}))})), "(index 2, index 3)");
}

TEST_F(InterpreterTest, DimsThatNoArgumentShowsComeFromTheUse) {
  // def @zeros[n]() { [i < n] => 0 }
  ExprPtr body = b.comprehension({i}, {n}, b.f32(0));
  define("zeros", b.fn({}, body, {n}), {n});
  ExprPtr zeros = b.global("zeros", function_type({}, tensor_of({c(2)})), {c(2)});
  EXPECT_EQ(text(b.call(zeros, {})), "Tensor[(2,), float32] [0, 0]");
}

TEST_F(InterpreterTest, DimsOfALoadedValueAreBoundWhereItIsBound) {
  host.files["a.npy:"] = Value::tensor(floats({3}, {1, 2, 3}));
  const Variable* x = b.variable("x", tensor_of({n}));
  ExprPtr load = b.intrinsic(IntrinsicKind::Load, x->type, {nullptr, nullptr}, {"a.npy", ""});
  EXPECT_EQ(text(b.block({{x, load}}, b.dim(n))), "index 3");
  // A later statement learns it from the value.
  environment[x] = Value::tensor(floats({4}, {1, 2, 3, 4}));
  EXPECT_EQ(text(b.comprehension({i}, {n}, b.read(b.var(x), {b.dim(dim_sub(dim_sub(n, c(1)), i))}))),
            "Tensor[(4,), float32] [4, 3, 2, 1]");
}

TEST_F(InterpreterTest, OperatorsTakeTheirDimsFromTheCall) {
  // op row_sums[n, m](x) { [i < n] => sum[j < m] x[i, j] }
  const Variable* x = b.variable("x", tensor_of({n, m}));
  ExprPtr sum = b.reduce(ReduceKind::Sum, {j}, {m}, b.read(b.var(x), {b.dim(i), b.dim(j)}));
  const OpInstance* op = b.instance("row_sums", {n, m}, b.fn({x}, b.comprehension({i}, {n}, sum)));
  ExprPtr a = given("a", floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(text(b.op_call(op, tensor_of({c(2)}), {c(2), c(3)}, {a})), "Tensor[(2,), float32] [6, 15]");
  // What is not known statically is read off the arguments.
  EXPECT_EQ(text(b.op_call(op, tensor_of({dim_any()}), {dim_any(), c(3)}, {a})),
            "Tensor[(2,), float32] [6, 15]");
  EXPECT_EQ(
      text(b.op_call(op, tensor_of({c(2)}), {c(2), c(4)}, {a})).find("error: the argument %x does not fit"),
      0u);
  EXPECT_EQ(text(b.op_call(b.instance("nn.x", {}, nullptr), number, {}, {})),
            "error: the definition of nn.x has errors");
}

TEST_F(InterpreterTest, Views) {
  ExprPtr a = given("a", floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(text(b.view(a, {c(3), c(2)})), "Tensor[(3, 2), float32] [[1, 2], [3, 4], [5, 6]]");
  EXPECT_EQ(text(b.view(a, {c(4)})),
            "error: a tensor of 6 elements cannot be viewed as Tensor[(4,), float32], which has 4");
  EXPECT_EQ(text(b.view(a, {c(-6)})), "error: the extent -6 is negative: -6");
  EXPECT_EQ(text(b.view(b.f32(3), {c(1)})), "Tensor[(1,), float32] [3]");
  EXPECT_EQ(text(b.view(b.constant(floats({1}, {3})), {})), "float32 3");
  Dim huge = c(int64_t{1} << 40);
  EXPECT_EQ(text(b.view(b.constant(floats({0}, {})), {c(0), huge, huge})),
            "error: Tensor[(0, 1099511627776, 1099511627776), float32] is too large");
}

}  // namespace
}  // namespace quern
