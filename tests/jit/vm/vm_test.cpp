#include "tests/jit/vm/vm_fixture.h"

namespace quern {
namespace {

// --- scalars

TEST_F(VmTest, ScalarFunctionsAreThoseOfApply) {
  const std::vector<DType> dtypes = {kInt,  DType::int64(), kIndex,         kFloat,          DType::float64(),
                                     kBool, DType::int8(),  DType::uint8(), DType::float16()};
  const std::vector<double> values = {0, 1, -1, 2, 3, -7, 2.5, 2147483647.0, -2147483648.0, NAN, INFINITY};
  auto check = [&](ScalarOp op, DType dtype, const Scalar& x, const Scalar& y) {
    std::vector<ExprPtr> args = {b.scalar(x), b.scalar(y)};
    std::vector<Scalar> operands = {x, y};
    args.resize(static_cast<size_t>(info(op).arity));
    operands.resize(args.size());
    EvaluationResult result = run(scalar(op, args));
    ASSERT_TRUE(result);
    EXPECT_EQ(to_string(result.value()), to_string(Value(quern::apply(op, operands))))
        << info(op).name << " " << to_string(dtype) << " " << to_string(x) << " " << to_string(y);
  };
  for (size_t op = 0; op <= static_cast<size_t>(ScalarOp::ShiftRight); ++op)
    for (DType dtype : dtypes)
      for (double x : values)
        for (double y : values)
          if (accepts(static_cast<ScalarOp>(op), dtype))
            check(static_cast<ScalarOp>(op), dtype, Scalar::from_double(dtype, x),
                  Scalar::from_double(dtype, y));
}

TEST_F(VmTest, CastsAreThoseOfCast) {
  const std::vector<DType> dtypes = {kInt,  DType::int64(), kIndex,         kFloat,          DType::float64(),
                                     kBool, DType::int8(),  DType::uint8(), DType::float16()};
  for (DType from : dtypes)
    for (DType to : dtypes)
      for (double value : {0.0, 1.0, -1.0, 300.75, -3e9, 1e30, double{NAN}}) {
        Scalar x = Scalar::from_double(from, value);
        EXPECT_EQ(text(b.cast(b.scalar(x), to)), to_string(Value(cast(x, to))))
            << to_string(from) << to_string(to);
      }
}

TEST_F(VmTest, ConditionsAreLazy) {
  expect_same(b.branch(boolean(true), b.i32(1), b.error()), "int32 1");
  expect_same(b.branch(boolean(false), b.i32(1), b.error()), "error: this expression has errors");
  const Variable* x = b.variable("x", integer);
  ExprPtr inner = b.branch(scalar(ScalarOp::Lt, {b.var(x), b.i32(3)}), b.i32(10), add(b.var(x), b.i32(1)));
  expect_same(b.block({{x, b.i32(2)}}, add(inner, b.var(x))), "int32 12");
  expect_same(b.block({{x, b.i32(5)}}, add(inner, b.var(x))), "int32 11");
}

TEST_F(VmTest, ElementsOfTensors) {
  ExprPtr t = given("t", tensor_of({c(2), c(3)}), floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Variable *p = b.variable("p", t->type), *k = b.variable("k", scalar_type(kIndex));
  auto take = [&](ExprPtr at, ExprPtr otherwise) {
    ExprPtr body = b.read(b.var(p), {b.dim(c(1)), b.read(b.var(k), {})}, {false, true}, otherwise);
    return b.call(primitive({p, k}, b.comprehension({}, {}, body)), {t, at});
  };
  expect_same(take(index(2), nullptr), "float32 6");
  expect_same(take(index(2), b.f32(-1)), "float32 6");
  expect_same(take(index(3), b.f32(-1)), "float32 -1");
  ExprPtr outside = take(index(-1), nullptr);
  expect_same(outside, "error: index -1 is out of bounds for axis 1 with extent 3");
  // The place is that of the read, though no kernel is called.
  auto* fn = as<FnExpr>(as<CallExpr>(outside)->callee);
  EXPECT_EQ(run(outside).error().origin, as<ComprehensionExpr>(fn->body)->body->origin);
}

// --- values

TEST_F(VmTest, TuplesAndData) {
  expect_same(b.tuple({}), "()");
  expect_same(b.field(b.tuple({b.i32(1), b.i32(2)}), 1), "int32 2");
  Type point = data_type("Point", 1, {});
  const Variable* p = b.variable("p", point);
  ExprPtr make = b.construct(point, data_constructors("Point", 1, {{"Point", {"x", ""}}})[0],
                             {b.i32(3), b.constant(floats({2}, {1, 2}).as_tensor())});
  ExprPtr x = b.arena->make<FieldExpr>(b.base(ExprKind::Field, integer), b.var(p), 0U, "x");
  expect_same(make, "Point(x=int32 3, Tensor[(2,), float32] [1, 2])");
  expect_same(b.block({{p, make}}, b.tuple({x, b.var(p), b.var(p)})),
              "(\n  int32 3,\n  Point(x=int32 3, Tensor[(2,), float32] [1, 2]),\n"
              "  Point(x=int32 3, Tensor[(2,), float32] [1, 2])\n)");
}

TEST_F(VmTest, Closures) {
  const Variable *x = b.variable("x", integer), *y = b.variable("y", integer);
  const Variable* f = b.variable("f", fn_type({integer}, integer));
  ExprPtr make = b.fn({x}, b.fn({y}, add(b.var(x), b.var(y))));
  expect_same(b.block({{f, b.call(make, {b.i32(40)})}}, b.call(b.var(f), {b.i32(2)})), "int32 42");
  define("twice", b.fn({f}, b.call(b.var(f), {b.call(b.var(f), {b.i32(1)})})));
  ExprPtr twice = b.global("twice", fn_type({f->type}, integer));
  expect_same(b.call(twice, {b.call(make, {b.i32(5)})}), "int32 11");
  expect_same(b.block({{f, twice}}, b.call(b.var(f), {b.call(make, {b.i32(3)})})), "int32 7");
  expect_same(b.block({}, make), "fn (int32) -> fn (int32) -> int32");
  expect_same(b.global("missing", integer), "error: the definition of @missing has errors");
}

TEST_F(VmTest, LetBoundFunctionsRecurseWithoutLeaks) {
  auto tensor = HostTensor::from<float>(kFloat, {2}, std::vector<float>{1, 2});
  std::weak_ptr<HostTensor> watched = tensor;
  ExprPtr t = given("t", tensor_of({c(2)}), Value::tensor(std::move(tensor)));
  const Variable* x = b.variable("x", integer);
  const Variable* f = b.variable("f", fn_type({integer}, t->type));
  ExprPtr next = b.call(b.var(f), {sub(b.var(x), b.i32(1))});
  ExprPtr more = scalar(ScalarOp::Gt, {b.var(x), b.i32(0)});
  // In tail position, in an argument, and as a value inside another function.
  ExprPtr by_value = b.call(b.fn({}, b.call(b.var(f), {b.i32(0)})), {});
  ExprPtr fn =
      b.fn({x}, b.branch(more, b.branch(scalar(ScalarOp::Eq, {b.var(x), b.i32(7)}), by_value, next), t));
  expect_same(b.block({{f, fn}}, b.call(b.var(f), {b.i32(5)})), "Tensor[(2,), float32] [1, 2]");
  expect_same(b.block({{f, fn}}, b.call(b.var(f), {b.i32(9)})), "Tensor[(2,), float32] [1, 2]");
  { EXPECT_TRUE(run(b.block({{f, fn}}, b.var(f)))); }
  inputs.clear();
  EXPECT_TRUE(watched.expired());
}

TEST_F(VmTest, Recursion) {
  const Variable* x = b.variable("x", integer);
  ExprPtr fib = b.global("fib", fn_type({integer}, integer));
  auto at = [&](int32_t back) { return b.call(fib, {sub(b.var(x), b.i32(back))}); };
  define("fib", b.fn({x}, b.branch(scalar(ScalarOp::Lt, {b.var(x), b.i32(2)}), b.var(x), add(at(1), at(2)))));
  expect_same(b.call(fib, {b.i32(15)}), "int32 610");
}

// --- loops

size_t resident_bytes() {
  size_t total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file && std::fscanf(file, "%zu %zu", &total, &resident) != 2) resident = 0;
  if (file) std::fclose(file);
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void expect_flat_memory(const std::function<void()>& body) {
  [[maybe_unused]] const size_t before = resident_bytes();
  body();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(resident_bytes(), before + (size_t{5} << 20));
#endif
}

TEST_F(VmTest, TailCallsTakeConstantMemory) {
  const Variable *k = b.variable("k", integer), *sum = b.variable("sum", number);
  ExprPtr loop = b.global("loop", fn_type({integer, number}, number));
  ExprPtr next = b.call(loop, {sub(b.var(k), b.i32(1)), add(b.var(sum), b.f32(1))});
  define("loop", b.fn({k, sum}, b.branch(scalar(ScalarOp::Gt, {b.var(k), b.i32(0)}), next, b.var(sum))));
  ExprPtr call = b.call(loop, {b.i32(1000000), b.f32(0)});
  expect_flat_memory([&] { EXPECT_EQ(text(call), "float32 1000000"); });
}

TEST_F(VmTest, MutualTailCallsThroughGlobalsAndClosures) {
  const Variable* x = b.variable("x", integer);
  const Variable* f = b.variable("f", fn_type({integer}, scalar_type(kBool)));
  ExprPtr is_zero = scalar(ScalarOp::Eq, {b.var(x), b.i32(0)}), less = sub(b.var(x), b.i32(1));
  ExprPtr even = b.global("even", f->type), odd = b.global("odd", f->type);
  define("even", b.fn({x}, b.branch(is_zero, boolean(true), b.call(odd, {less}))));
  define("odd", b.fn({x}, b.branch(is_zero, boolean(false), b.block({{f, even}}, b.call(b.var(f), {less})))));
  expect_flat_memory([&] { EXPECT_EQ(text(b.call(even, {b.i32(300001)})), "bool False"); });
  EXPECT_EQ(functions.asked, 2U);
}

TEST_F(VmTest, TensorsInLoopsDieAtTheirLastUse) {
  Type large = tensor_of({c(1 << 16)});
  const Variable *k = b.variable("k", integer), *t = b.variable("t", large);
  ExprPtr loop = b.global("loop", fn_type({integer, large}, large));
  ExprPtr next = b.call(loop, {sub(b.var(k), b.i32(1)), increment(b.var(t))});
  define("loop", b.fn({k, t}, b.branch(scalar(ScalarOp::Gt, {b.var(k), b.i32(0)}), next, b.var(t))));
  ExprPtr call =
      b.call(loop, {b.i32(60), given("t", large, Value::tensor(HostTensor::zeros(kFloat, {1 << 16})))});
  expect_flat_memory([&] {
    EvaluationResult result = run(call);
    ASSERT_TRUE(result);
    EXPECT_EQ(result.value().as_tensor()->elements<float>()[7], 60.0F);
  });
}

TEST_F(VmTest, AnArmWithoutTheTensorDropsIt) {
  for (bool yes : {true, false}) {
    inputs.clear();
    auto tensor = HostTensor::zeros(kFloat, {4});
    std::weak_ptr<HostTensor> watched = tensor;
    ExprPtr t = given("t", tensor_of({c(4)}), Value::tensor(std::move(tensor)));
    std::vector<Value> arguments = {std::exchange(inputs[0].second, Value())};
    // In the other arm it is the memory of the kernel's result.
    host.on_print = [&] { EXPECT_EQ(watched.expired(), !yes); };
    auto print = [&] { return b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr}, {"here"}); };
    const Variable* u = b.variable("u", t->type);
    ExprPtr used = b.block({{u, increment(t)}, {nullptr, print()}}, b.var(u));
    ExprPtr unused = b.block({{nullptr, print()}}, b.constant(HostTensor::zeros(kFloat, {4})));
    auto program = compile(b.branch(boolean(yes), used, unused));
    EXPECT_TRUE(execute(program, std::move(arguments), functions, kernels, host));
  }
  EXPECT_EQ(host.log, "here\nhere\n");
}

TEST_F(VmTest, RecursionTooDeep) {
  const Variable* x = b.variable("x", integer);
  ExprPtr down = b.global("down", fn_type({integer}, integer));
  ExprPtr call = b.call(down, {sub(b.var(x), b.i32(1))});
  define("down",
         b.fn({x}, b.branch(scalar(ScalarOp::Eq, {b.var(x), b.i32(0)}), b.i32(7), add(call, b.i32(1)))));
  EXPECT_EQ(text(b.call(down, {b.i32(90000)})), "int32 90007");
  EvaluationResult result = run(b.call(down, {b.i32(-1)}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the recursion is too deep");
  EXPECT_EQ(result.error().origin, call->origin);
  EXPECT_EQ(result.error().calls, std::vector<Origin>(64, call->origin));
}

TEST_F(VmTest, ErrorsTellTheirCallsAsTheInterpreterDoes) {
  const Variable* x = b.variable("x", integer);
  Type type = fn_type({integer}, integer);
  ExprPtr f = b.global("f", type), g = b.global("g", type), h = b.global("h", type);
  define("h", b.fn({x}, b.error()));
  define("g", b.fn({x}, b.call(h, {b.var(x)})));
  define("f", b.fn({x}, add(b.call(g, {b.var(x)}), b.i32(1))));
  ExprPtr call = b.call(f, {b.i32(1)});
  EvaluationResult ours = run(call), theirs = interpret(call, {}, functions, host);
  ASSERT_FALSE(ours);
  EXPECT_EQ(ours.error().message, theirs.error().message);
  EXPECT_EQ(ours.error().origin, theirs.error().origin);
  EXPECT_EQ(ours.error().calls, theirs.error().calls);
  EXPECT_EQ(ours.error().calls.size(), 3U);
}

TEST_F(VmTest, Interrupts) {
  ExprPtr forever = b.global("forever", fn_type({}, integer));
  ExprPtr print = b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr}, {"round"});
  define("forever", b.fn({}, b.block({{nullptr, print}}, b.call(forever, {}))));
  host.on_print = [&, rounds = 0]() mutable {
    if (++rounds == 3) request_interrupt();
  };
  EXPECT_EQ(text(b.call(forever, {})), "error: interrupted");
  EXPECT_EQ(host.log, "round\nround\nround\n");
  clear_interrupt();
  EXPECT_EQ(text(add(b.i32(1), b.i32(1))), "int32 2");
}

// --- dims

TEST_F(VmTest, DimsAreBoundFromArguments) {
  Type type = tensor_of({n, m});
  const Variable *x = b.variable("x", type), *y = b.variable("y", tensor_of({m, n}));
  ExprPtr size = b.dim(dim_add(dim_mul(n, c(10)), m));
  ExprPtr f = b.global("f", fn_type({type, y->type}, size->type));
  define("f", b.fn({x, y}, size, {n, m}), {n, m});
  auto zeros = [&](int64_t rows, int64_t columns) {
    return b.constant(HostTensor::zeros(kFloat, {rows, columns}));
  };
  expect_same(b.call(f, {zeros(2, 3), zeros(3, 2)}), "index 23");
  expect_same(
      b.call(f, {zeros(2, 3), zeros(3, 4)}),
      "error: the argument %y does not fit: axis 1 of Tensor[(3, 4), float32] has extent 4, but n is 2");
  const Variable* pair = b.variable("p", tuple_type(std::vector<Type>{integer, type}));
  ExprPtr g = b.fn({pair}, b.fn({}, size), {n, m});
  expect_same(b.call(b.call(g, {b.tuple({b.i32(1), zeros(4, 5)})}), {}), "index 45");
}

TEST_F(VmTest, CompoundExtentsAndDimsOfTheUse) {
  const Variable* x = b.variable("x", tensor_of({dim_mul(n, c(2)), dim_add(n, m)}));
  ExprPtr sizes = b.tuple({b.dim(n), b.dim(m)});
  ExprPtr f = b.fn({x}, sizes, {n, m});
  auto zeros = [&](int64_t rows, int64_t columns) {
    return b.constant(HostTensor::zeros(kFloat, {rows, columns}));
  };
  expect_same(b.call(f, {zeros(4, 5)}), "(index 2, index 3)");
  expect_same(b.call(f, {zeros(5, 5)}),
              "error: the argument %x does not fit: axis 0 of Tensor[(5, 5), float32] has extent 5, "
              "which 2*n cannot be");
  Type none = fn_type({}, sizes->type);
  const Variable* g = b.variable("g", none);
  define("g", b.fn({}, sizes, {n, m}), {n, m});
  ExprPtr use = b.global("g", none, {c(3), c(4)});
  expect_same(b.call(use, {}), "(index 3, index 4)");
  expect_same(b.block({{g, use}}, b.call(b.var(g), {})), "(index 3, index 4)");
  EXPECT_EQ(text(b.dim(n)), "error: the extent n has no value here");
}

TEST_F(VmTest, DimsOfInputsAndOfLoadedValues) {
  ExprPtr t = given("t", tensor_of({n, c(2)}), floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  expect_same(b.tuple({b.dim(n), b.view(t, {dim_mul(n, c(2))})}),
              "(index 3, Tensor[(6,), float32] [1, 2, 3, 4, 5, 6])");
  host.files["f:"] = floats({4}, {1, 2, 3, 4});
  const Variable* x = b.variable("x", tensor_of({m}));
  ExprPtr load = b.intrinsic(IntrinsicKind::Load, x->type, {nullptr, nullptr}, {"f", ""});
  expect_same(b.block({{x, load}}, b.tuple({b.dim(m), increment(b.var(x))})),
              "(index 4, Tensor[(4,), float32] [2, 3, 4, 5])");
  ExprPtr open = b.intrinsic(IntrinsicKind::Load, tensor_of({dim_any()}), {nullptr, nullptr}, {"f", ""});
  expect_same(b.block({{x, open}}, b.dim(m)), "index 4");
  const Variable* five = b.variable("x", tensor_of({c(5)}));
  expect_same(b.block({{five, open}}, b.var(five)),
              "error: the value does not fit: axis 0 of Tensor[(4,), float32] has extent 4, not 5");
  EXPECT_EQ(text(b.call(b.fn({five}, b.var(five)), {open})),
            "error: the value does not fit: axis 0 of Tensor[(4,), float32] has extent 4, not 5");
}

TEST_F(VmTest, Views) {
  ExprPtr t = given("t", tensor_of({n}), floats({6}, {1, 2, 3, 4, 5, 6}));
  expect_same(b.view(t, {c(2), c(3)}), "Tensor[(2, 3), float32] [[1, 2, 3], [4, 5, 6]]");
  expect_same(b.view(t, {c(4)}),
              "error: a tensor of 6 elements cannot be viewed as Tensor[(4,), float32], which has 4");
  expect_same(b.view(t, {dim_sub(n, c(7))}), "error: the extent n - 7 is negative: -1");
  expect_same(b.view(b.f32(3), {c(1), c(1)}), "Tensor[(1, 1), float32] [[3]]");
  expect_same(b.view(b.constant(HostTensor::from<float>(kFloat, {1}, std::vector<float>{3})), {}),
              "float32 3");
}

// --- kernels

TEST_F(VmTest, KernelsAreFetchedOnceAndTakeDims) {
  ExprPtr t = given("t", tensor_of({n}), floats({3}, {1, 2, 3}));
  const Variable* p = b.variable("p", t->type);
  ExprPtr body = b.op(ScalarOp::Add, {b.read(b.var(p), {b.dim(i)}), b.cast(b.dim(dim_add(n, i)), kFloat)});
  ExprPtr call = b.call(primitive({p}, b.comprehension({i}, {n}, body)), {t});
  expect_same(call, "Tensor[(3,), float32] [4, 6, 8]");
  auto program = compile(call);
  kernels.fetched = 0;
  auto once = [&] {
    EvaluationResult result = execute(program, {floats({2}, {1, 2})}, functions, kernels, host);
    EXPECT_EQ(text_of(result), "Tensor[(2,), float32] [3, 5]");
  };
  once();
  once();
  EXPECT_EQ(kernels.fetched, 1U);
}

TEST_F(VmTest, KernelsOfRankZeroGiveScalars) {
  ExprPtr t = given("t", tensor_of({n}), floats({3}, {1, 2, 3}));
  expect_same(scalar(ScalarOp::Mul, {total(t), total(increment(t))}), "float32 54");
  const Variable *p = b.variable("p", t->type), *s = b.variable("s", number);
  ExprPtr body = b.op(ScalarOp::Mul, {b.read(b.var(p), {b.dim(i)}), b.read(b.var(s), {})});
  expect_same(b.call(primitive({p, s}, b.comprehension({i}, {n}, body)), {t, total(t)}),
              "Tensor[(3,), float32] [6, 12, 18]");
}

TEST_F(VmTest, TrapsAndFailuresOfKernels) {
  ExprPtr t = given("t", tensor_of({n}), floats({3}, {1, 2, 3}));
  const Variable* p = b.variable("p", t->type);
  ExprPtr body = b.read(b.var(p), {b.dim(dim_add(i, c(1)))}, {true});
  ExprPtr call = b.call(primitive({p}, b.comprehension({i}, {n}, body)), {t});
  expect_same(call, "error: index 3 is out of bounds for axis 0 with extent 3");
  EXPECT_EQ(run(call).error().origin, body->origin);
  kernels.failure = "the compiler is missing";
  EXPECT_EQ(text(call), "error: the compiler is missing");
  kernels.failure.clear();
  ExprPtr empty = b.constant(HostTensor::zeros(kFloat, {0}));
  expect_same(b.tuple({t, b.view(empty, {dim_mul(n, c(INT64_MAX / 4)), c(0)})}),
              "error: Tensor[(6917529027641081853, 0), float32] is too large");
}

TEST_F(VmTest, ResultsTakeTheMemoryOfOperandsUnlessTheyMayNot) {
  static int taken;  // an entry is a plain function
  kernels.entry = [](void* const* buffers, const int64_t*) -> int32_t {
    taken += buffers[0] == buffers[1];
    return 0;
  };
  const auto taken_of = [&](bool in_place) {
    kernels.machine_options.writes_in_place = in_place;
    taken = 0;
    EXPECT_TRUE(run(increment(increment(increment(given("t", tensor_of({c(3)}), floats({3}, {1, 2, 3})))))));
    return taken;
  };
  EXPECT_EQ(taken_of(true), 2);  // the caller has the first one's operand
  EXPECT_EQ(taken_of(false), 0);
}

// A suite of its own: those of VmTest share a process, and are not run under the thread sanitizer.
class VmThreads : public VmTest {};

TEST_F(VmThreads, RunAProgramAtOnce) {
  ExprPtr t = given("t", tensor_of({n}), floats({3}, {1, 2, 3}));
  auto program = compile(b.tuple({increment(t), b.constant(HostTensor::zeros(kFloat, {1}))}));
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      RecordingHost own_host;
      Definitions own_functions;
      for (int round = 0; round < 20; ++round)
        EXPECT_TRUE(execute(program, {floats({3}, {1, 2, 3})}, own_functions, kernels, own_host));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kernels.fetched, 1U);
}

// --- the outside

TEST_F(VmTest, PrintLoadSave) {
  ExprPtr print = b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, b.i32(3), nullptr, b.f32(1.5)},
                              {"loss: ", "", " ", ""});
  ExprPtr save = b.intrinsic(IntrinsicKind::Save, unit_type(), {nullptr, b.i32(7)}, {"f", ""});
  ExprPtr load = b.intrinsic(IntrinsicKind::Load, integer, {nullptr, nullptr}, {"f", ""});
  expect_same(b.block({{nullptr, print}, {nullptr, save}}, load), "int32 7");
  EXPECT_EQ(host.log, "loss: 3 1.5\nloss: 3 1.5\n");
  ExprPtr missing = b.intrinsic(IntrinsicKind::Load, integer, {nullptr, nullptr}, {"g", ""});
  expect_same(missing, "error: there is no file g");
  EXPECT_EQ(run(missing).error().origin, missing->origin);
  expect_same(b.intrinsic(IntrinsicKind::Save, unit_type(), {nullptr, b.i32(7)}, {"", ""}),
              "error: a path is wanted");
}

TEST_F(VmTest, TextForm) {
  const Variable *k = b.variable("k", integer), *t = b.variable("t", tensor_of({n}));
  ExprPtr loop = b.global("loop", fn_type({integer, t->type}, t->type), {n});
  ExprPtr next = b.call(loop, {sub(b.var(k), b.i32(1)), increment(b.var(t))});
  ExprPtr fn = b.fn({k, t}, b.branch(scalar(ScalarOp::Gt, {b.var(k), b.i32(0)}), next, b.var(t)), {n});
  EXPECT_EQ(to_string(*compile_program(fn, {}, nullptr)),
            "fn0: 2 parameters, 3 registers, binds 1[0]: n\n"
            "   0  r2 = > r0, int32 0\n"
            "   1  unless r2 -> 5\n"
            "   2  r0 = - r0, int32 1\n"
            "   3  r2 = kernel #0 (r1!) -> float32[n] in r1\n"
            "   4  tail_invoke @loop (r0, r2!)\n"
            "   5  return r1!\n");
}

// --- bugs in compiled code

TEST_F(VmTest, AFaultInAKernelIsABugThatTheMachineOutlives) {
  ExprPtr v = given("v", tensor_of({c(2)}), floats({2}, {1, 2}));
  kernels.entry = [](void* const*, const int64_t*) -> int32_t {
    asm volatile("ud2");
    return 0;
  };
  const auto failure = failure_of([&] { run(increment(v)); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->stage, "run");
  EXPECT_EQ(failure->subject, "kernel_0");
  EXPECT_NE(std::string(failure->what()).find("compiled code stopped: SIGILL"), std::string::npos);
  kernels.entry = nullptr;
  EXPECT_EQ(text(increment(v)), "Tensor[(2,), float32] [2, 3]");
}

}  // namespace
}  // namespace quern
