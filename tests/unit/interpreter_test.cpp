#include "ir/interpreter.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>
#include <functional>
#include <map>

#include "tests/unit/ir_builder.h"

namespace quern {
namespace {

const DType kFloat = DType::float32();
const DType kInt = DType::int32();
const DType kIndex = DType::index();

/// Deep recursion runs on a stack as large as the program's evaluation threads have.
void on_large_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{256} << 20);
  pthread_t thread;
  auto start = [](void* f) -> void* { return (*static_cast<std::function<void()>*>(f))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

class Functions final : public FunctionSource {
 public:
  std::map<std::string, Definition, std::less<>> definitions;
  const Definition* function(uint32_t, std::string_view name) override {
    auto found = definitions.find(name);
    return found == definitions.end() ? nullptr : &found->second;
  }
};

class RecordingHost final : public Host {
 public:
  std::string log;
  std::map<std::string, Value, std::less<>> files;
  void print(std::string_view line) override { log += std::string(line) + "\n"; }
  Result<Value> load(std::string_view path, std::string_view entry, Type) override {
    auto found = files.find(std::string(path) + ":" + std::string(entry));
    if (found == files.end()) return Failure{"there is no file " + std::string(path)};
    return found->second;
  }
  Result<Done> save(std::string_view path, const Value& value, Type) override {
    if (path.empty()) return Failure{"a path is wanted"};
    files[std::string(path) + ":"] = value;
    return Done();
  }
};

class InterpreterTest : public ::testing::Test {
 protected:
  IrBuilder b;
  Functions functions;
  RecordingHost host;
  Environment environment;
  Dim n = dim_var("n"), m = dim_var("m"), i = dim_var("i"), j = dim_var("j"), k = dim_var("k");
  Type number = scalar_type(kFloat), integer = scalar_type(kInt);

  static Type tensor_of(std::vector<Dim> dims, DType dtype = kFloat) { return tensor_type(dims, dtype); }
  static TensorPtr floats(Shape shape, std::vector<float> elements) {
    return HostTensor::from<float>(kFloat, std::move(shape), elements);
  }
  static TensorPtr ints(Shape shape, std::vector<int32_t> elements) {
    return HostTensor::from<int32_t>(kInt, std::move(shape), elements);
  }
  static Dim c(int64_t value) { return dim_const(value); }

  /// A variable with a value in the environment.
  ExprPtr given(std::string_view name, TensorPtr tensor) {
    std::vector<Dim> dims;
    for (int64_t extent : tensor->shape()) dims.push_back(c(extent));
    const Variable* v = b.variable(name, tensor_of(dims, tensor->dtype()));
    environment[v] = Value::tensor(std::move(tensor));
    return b.var(v);
  }

  EvaluationResult evaluate(ExprPtr expr) { return interpret(expr, environment, functions, host); }
  std::string text(ExprPtr expr) {
    EvaluationResult result = evaluate(expr);
    return result ? to_string(result.value()) : "error: " + result.error().message;
  }

  void define(std::string name, ExprPtr body, std::vector<Dim> dim_vars = {}) {
    functions.definitions[name] = {name, {dim_vars, {}, body->type}, body, b.arena};
  }
  void TearDown() override {
    // The definitions' arena is the builder's own.
    functions.definitions.clear();
  }

  /// add(x, y) on numbers of int32, as the operator that it is in the language.
  ExprPtr add(ExprPtr x, ExprPtr y) { return arithmetic(ScalarOp::Add, x, y); }
  ExprPtr arithmetic(ScalarOp op, ExprPtr x, ExprPtr y) {
    const OpInstance*& instance = arithmetic_[op];
    const Variable *a = b.variable("a", integer), *d = b.variable("b", integer);
    ExprPtr body = b.op(op, {b.read(b.var(a), {}), b.read(b.var(d), {})});
    if (!instance) instance = b.instance("arithmetic", {}, b.fn({a, d}, b.comprehension({}, {}, body)));
    return b.op_call(instance, body->type, {}, {x, y});
  }

 private:
  std::map<ScalarOp, const OpInstance*> arithmetic_;
};

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
  EXPECT_EQ(text(b.construct(list, constructors[0], {b.i32(1), nil})), "Cons(int32 1, Nil)");
}

TEST_F(InterpreterTest, PrintLoadSave) {
  ExprPtr x = given("x", ints({2}, {1, 2}));
  EXPECT_EQ(text(b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, x, nullptr, b.i32(3)},
                             {"x:", "", "and", ""})),
            "()");
  EXPECT_EQ(host.log, "x: Tensor[(2,), int32] [1, 2] and int32 3\n");
  EXPECT_EQ(text(b.intrinsic(IntrinsicKind::Save, unit_type(), {x}, {"a.npy"})), "()");
  const IntrinsicExpr* load = b.intrinsic(IntrinsicKind::Load, tensor_of({n}, kInt), {}, {"a.npy", ""});
  EXPECT_EQ(text(load), "Tensor[(2,), int32] [1, 2]");
  ExprPtr lost = b.intrinsic(IntrinsicKind::Load, tensor_of({n}, kInt), {}, {"b.npy", ""});
  EvaluationResult result = evaluate(lost);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "there is no file b.npy");
  EXPECT_EQ(result.error().origin, lost->origin);
  EXPECT_EQ(text(b.intrinsic(IntrinsicKind::Save, unit_type(), {x}, {""})), "error: a path is wanted");
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
  ExprPtr load = b.intrinsic(IntrinsicKind::Load, x->type, {}, {"a.npy", ""});
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

// --- index expressions -------------------------------------------------------------------------------------

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

TEST_F(InterpreterTest, InvariantPartsAreEvaluatedOnceAndOnlyWhenNeeded) {
  ExprPtr x = given("x", floats({1}, {5}));
  ExprPtr unneeded = b.read(b.view(x, {c(7)}), {b.dim(i)}, {true});
  ExprPtr no = b.scalar(Scalar::from_int(DType::boolean(), 0));
  EXPECT_EQ(text(b.comprehension({i}, {c(2)}, b.branch(no, unneeded, b.f32(1)))),
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
