#include "jit/vm/vm.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/interpreter.h"
#include "tests/unit/ir_builder.h"

namespace quern {
namespace {

const DType kFloat = DType::float32();
const DType kInt = DType::int32();
const DType kBool = DType::boolean();
const DType kIndex = DType::index();

// --- kernels without a compiler
// ------------------------------------------------------------------------------

/// A "kernel" that interprets its primitive function on the buffers.
class InterpretedKernel final : public CompiledKernel {
 public:
  explicit InterpretedKernel(const FnExpr& fn) : fn_(fn) {
    std::unordered_set<Dim> bound;
    find_dims(fn.body, bound);
    for (const Variable* param : fn.params)
      for_each_dim_var(param->type, [&](Dim var) { add_dim(var, bound); });
    for (Dim dim : fn.body->type->dims) for_each_var(dim, [&](Dim var) { add_dim(var, bound); });
  }
  std::vector<Dim> dims;

  int32_t run(void* const* buffers, const int64_t* values) {
    Arena arena;
    ExprSubstitution known;
    for (size_t i = 0; i < dims.size(); ++i) known.types.dims[dims[i]] = dim_const(values[i]);
    Environment environment;
    size_t at = 0;
    for (const Variable* param : fn_.params) {
      Type type = quern::substitute(param->type, known.types);
      TensorPtr tensor = HostTensor::make(type->dtype, shape_of(type));
      std::memcpy(tensor->data(), buffers[at++], tensor->bytes());
      const Variable* given = make_variable(arena, param->name, type);
      environment[given] = Value::tensor(std::move(tensor));
      known.variables[param] = arena.make<VarExpr>(Expr{ExprKind::Var, type, {}}, given);
    }
    struct None final : FunctionSource {
      const Definition* function(uint32_t, std::string_view) override { return nullptr; }
    } none;
    struct Silent final : Host {
      void print(std::string_view) override {}
      Result<Value> load(std::string_view, std::string_view, Type) override { return Failure{""}; }
      Result<Done> save(std::string_view, const Value&, Type) override { return Done(); }
    } silent;
    EvaluationResult result = interpret(quern::substitute(arena, fn_.body, known), environment, none, silent);
    if (!result) {
      traps = {"the first trap", result.error().message};
      return 2;
    }
    TensorPtr tensor = result.value().as_tensor();
    std::memcpy(buffers[at], tensor->data(), tensor->bytes());
    return 0;
  }

 private:
  static Shape shape_of(Type type) {
    Shape shape;
    for (Dim dim : type->dims) shape.push_back(as_const(dim).value());
    return shape;
  }
  void add_dim(Dim var, const std::unordered_set<Dim>& bound) {
    if (!bound.contains(var) && std::find(dims.begin(), dims.end(), var) == dims.end()) dims.push_back(var);
  }
  void find_dims(ExprPtr expr, std::unordered_set<Dim>& bound) {
    auto enter = [&](const auto& node) {
      bound.insert(node.vars.begin(), node.vars.end());
      for (Dim extent : node.extents) for_each_var(extent, [&](Dim var) { add_dim(var, bound); });
    };
    if (auto* comprehension = as<ComprehensionExpr>(expr)) enter(*comprehension);
    if (auto* reduce = as<ReduceExpr>(expr)) enter(*reduce);
    if (auto* value = as<DimValueExpr>(expr)) for_each_var(value->dim, [&](Dim var) { add_dim(var, bound); });
    for_each_child(expr, [&](ExprPtr child) { find_dims(child, bound); });
  }

  const FnExpr& fn_;
};

/// Entries are plain functions: each of these stands for the kernel of its number.
constexpr size_t kMostKernels = 16;
std::array<InterpretedKernel*, kMostKernels> kernels_in_use = {};
template <size_t... I>
constexpr std::array<KernelEntry, sizeof...(I)> make_entries(std::index_sequence<I...>) {
  return {[](void* const* buffers, const int64_t* dims) { return kernels_in_use[I]->run(buffers, dims); }...};
}
constexpr auto kEntries = make_entries(std::make_index_sequence<kMostKernels>());

class InterpretingKernelSource final : public KernelSource {
 public:
  std::string failure;
  std::atomic<size_t> fetched = 0;
  Result<KernelCode> kernel(const FnExpr& primitive) override {
    if (!failure.empty()) return Failure{failure};
    auto kernel = std::make_shared<InterpretedKernel>(primitive);
    size_t number = fetched++;
    kernels_in_use.at(number) = kernel.get();
    kernel->entry = kEntries.at(number);
    return KernelCode{kernel, kernel->dims};
  }
};

// --- fixture
// -------------------------------------------------------------------------------------------------

/// Definitions for both evaluators.
class Definitions final : public FunctionSource, public ProgramSource {
 public:
  std::map<std::string, Definition, std::less<>> definitions;
  size_t asked = 0;
  const Definition* function(uint32_t, std::string_view name) override {
    auto found = definitions.find(name);
    return found == definitions.end() ? nullptr : &found->second;
  }
  std::shared_ptr<const Program> program(const GlobalName& name) override {
    ++asked;
    auto found = definitions.find(name.name);
    if (found == definitions.end()) return nullptr;
    auto& program = programs_[found->first];
    if (!program) program = compile_program(found->second.body, {}, found->second.arena);
    return program;
  }

 private:
  std::map<std::string, std::shared_ptr<const Program>, std::less<>> programs_;
};

class RecordingHost final : public Host {
 public:
  std::string log;
  std::map<std::string, Value, std::less<>> files;
  std::function<void()> on_print = [] {};
  void print(std::string_view line) override {
    log += std::string(line) + "\n";
    on_print();
  }
  Result<Value> load(std::string_view path, std::string_view, Type) override {
    auto found = files.find(path);
    if (found == files.end()) return Failure{"there is no file " + std::string(path)};
    return found->second;
  }
  Result<Done> save(std::string_view path, const Value& value, Type) override {
    if (path.empty()) return Failure{"a path is wanted"};
    files[std::string(path)] = value;
    return Done();
  }
};

std::string text_of(const EvaluationResult& result) {
  return result ? to_string(result.value()) : "error: " + result.error().message;
}

class VmTest : public ::testing::Test {
 protected:
  IrBuilder b;
  Definitions functions;
  RecordingHost host;
  InterpretingKernelSource kernels;
  std::vector<std::pair<const Variable*, Value>> inputs;
  Dim n = dim_var("n"), m = dim_var("m"), i = dim_var("i"), j = dim_var("j");
  Type number = scalar_type(kFloat), integer = scalar_type(kInt);

  static Dim c(int64_t value) { return dim_const(value); }
  static Type tensor_of(std::vector<Dim> dims, DType dtype = kFloat) { return tensor_type(dims, dtype); }
  static Type fn_type(std::vector<Type> params, Type result) { return function_type(params, result); }
  static Value floats(Shape shape, std::vector<float> elements) {
    return Value::tensor(HostTensor::from<float>(kFloat, std::move(shape), std::span<const float>(elements)));
  }
  static Value int_value(int64_t value, DType dtype = kInt) { return Scalar::from_int(dtype, value); }

  ExprPtr given(std::string_view name, Type type, Value value) {
    const Variable* v = b.variable(name, type);
    inputs.emplace_back(v, std::move(value));
    return b.var(v);
  }
  ExprPtr boolean(bool value) { return b.scalar(Scalar::from_int(kBool, value)); }
  ExprPtr index(int64_t value) { return b.scalar(Scalar::from_int(kIndex, value)); }

  std::shared_ptr<const Program> compile(ExprPtr expr) {
    std::vector<const Variable*> variables;
    for (auto& [variable, value] : inputs) variables.push_back(variable);
    return compile_program(expr, variables, nullptr);
  }
  EvaluationResult run(ExprPtr expr) {
    std::vector<Value> arguments;
    for (auto& [variable, value] : inputs) arguments.push_back(value);
    return execute(compile(expr), std::move(arguments), functions, kernels, host);
  }
  std::string text(ExprPtr expr) { return text_of(run(expr)); }
  std::string interpreted(ExprPtr expr) {
    return text_of(interpret(expr, Environment(inputs.begin(), inputs.end()), functions, host));
  }
  void expect_same(ExprPtr expr, const std::string& wanted) {
    EXPECT_EQ(text(expr), wanted);
    EXPECT_EQ(interpreted(expr), wanted);
  }

  void define(std::string name, ExprPtr body, std::vector<Dim> dim_vars = {}) {
    functions.definitions[name] = {name, {dim_vars, {}, body->type}, body, b.arena};
  }
  void TearDown() override { functions.definitions.clear(); }

  const FnExpr* primitive(std::vector<const Variable*> params, ExprPtr body) {
    FnExpr fn = *b.fn(std::move(params), body);
    fn.primitive = true;
    return b.arena->make<FnExpr>(fn);
  }
  /// A primitive function of rank 0 applied to numbers, as lowering makes it of `x + y`.
  ExprPtr scalar(ScalarOp op, std::vector<ExprPtr> args) {
    std::vector<const Variable*> params;
    std::vector<ExprPtr> reads;
    for (ExprPtr arg : args) {
      params.push_back(b.variable("x", arg->type));
      reads.push_back(b.read(b.var(params.back()), {}));
    }
    return b.call(primitive(params, b.comprehension({}, {}, b.op(op, reads))), args);
  }
  ExprPtr add(ExprPtr x, ExprPtr y) { return scalar(ScalarOp::Add, {x, y}); }
  ExprPtr sub(ExprPtr x, ExprPtr y) { return scalar(ScalarOp::Sub, {x, y}); }
  /// x + 1 on the elements of a vector.
  ExprPtr increment(ExprPtr x) {
    const Variable* p = b.variable("p", x->type);
    Dim at = dim_var("at");
    ExprPtr body = b.op(ScalarOp::Add, {b.read(b.var(p), {b.dim(at)}), b.f32(1)});
    return b.call(primitive({p}, b.comprehension({at}, {x->type->dims[0]}, body)), {x});
  }
  ExprPtr total(ExprPtr x) {
    const Variable* p = b.variable("p", x->type);
    Dim at = dim_var("at");
    ExprPtr sum = b.reduce(ReduceKind::Sum, {at}, {x->type->dims[0]}, b.read(b.var(p), {b.dim(at)}));
    return b.call(primitive({p}, b.comprehension({}, {}, sum)), {x});
  }
};

// --- scalars
// -------------------------------------------------------------------------------------------------

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
// --------------------------------------------------------------------------------------------------

TEST_F(VmTest, TuplesAndData) {
  expect_same(b.tuple({}), "()");
  expect_same(b.field(b.tuple({b.i32(1), b.i32(2)}), 1), "int32 2");
  Type point = data_type("Point", 1, {});
  const Variable* p = b.variable("p", point);
  ExprPtr make = b.construct(point, data_constructors("Point", 1, {{"Point", {"x", ""}}})[0],
                             {b.i32(3), b.constant(floats({2}, {1, 2}).as_tensor())});
  ExprPtr x = b.arena->make<FieldExpr>(b.base(ExprKind::Field, integer), b.var(p), 0U, "x");
  expect_same(make, "Point(x=int32 3, Tensor[(2,), float32] [1, 2])");
  expect_same(
      b.block({{p, make}}, b.tuple({x, b.var(p), b.var(p)})),
      "(int32 3, Point(x=int32 3, Tensor[(2,), float32] [1, 2]), Point(x=int32 3, Tensor[(2,), float32] "
      "[1, 2]))");
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
// ---------------------------------------------------------------------------------------------------

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
    host.on_print = [&] { EXPECT_TRUE(watched.expired()); };
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
  EXPECT_EQ(text(add(b.i32(1), b.i32(1))), "int32 2");
}

// --- dims
// ----------------------------------------------------------------------------------------------------

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
  host.files["f"] = floats({4}, {1, 2, 3, 4});
  const Variable* x = b.variable("x", tensor_of({m}));
  ExprPtr load = b.intrinsic(IntrinsicKind::Load, x->type, {}, {"f", ""});
  expect_same(b.block({{x, load}}, b.tuple({b.dim(m), increment(b.var(x))})),
              "(index 4, Tensor[(4,), float32] [2, 3, 4, 5])");
  ExprPtr open = b.intrinsic(IntrinsicKind::Load, tensor_of({dim_any()}), {}, {"f", ""});
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
// -------------------------------------------------------------------------------------------------

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

TEST_F(VmTest, ProgramsRunOnSeveralThreadsAtOnce) {
  ExprPtr t = given("t", tensor_of({n}), floats({3}, {1, 2, 3}));
  auto program = compile(b.tuple({increment(t), b.constant(HostTensor::zeros(kFloat, {1}))}));
  std::vector<std::thread> threads;
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
// ---------------------------------------------------------------------------------------------

TEST_F(VmTest, PrintLoadSave) {
  ExprPtr print =
      b.intrinsic(IntrinsicKind::Print, unit_type(), {nullptr, b.i32(3), b.f32(1.5)}, {"loss:", "", ""});
  ExprPtr save = b.intrinsic(IntrinsicKind::Save, unit_type(), {b.i32(7)}, {"f"});
  ExprPtr load = b.intrinsic(IntrinsicKind::Load, integer, {}, {"f", ""});
  expect_same(b.block({{nullptr, print}, {nullptr, save}}, load), "int32 7");
  EXPECT_EQ(host.log, "loss: int32 3 float32 1.5\nloss: int32 3 float32 1.5\n");
  ExprPtr missing = b.intrinsic(IntrinsicKind::Load, integer, {}, {"g", ""});
  expect_same(missing, "error: there is no file g");
  EXPECT_EQ(run(missing).error().origin, missing->origin);
  expect_same(b.intrinsic(IntrinsicKind::Save, unit_type(), {b.i32(7)}, {""}), "error: a path is wanted");
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
            "   3  r2 = kernel #0 (r1!) -> float32[n]\n"
            "   4  tail_invoke @loop (r0, r2!)\n"
            "   5  return r1!\n");
}

// --- programs by chance
// --------------------------------------------------------------------------------------

/// Well-typed expressions over ints, pairs (counted objects) and functions from pairs to pairs.
class RandomPrograms {
 public:
  RandomPrograms(IrBuilder& builder, std::function<ExprPtr(ExprPtr, ExprPtr)> add, uint32_t seed)
      : b_(builder), add_(std::move(add)), random_(seed) {}

  ExprPtr make(Type type, int depth) {
    std::vector<const Variable*> fitting;
    for (const Variable* v : scope_)
      if (v->type == type) fitting.push_back(v);
    if (!fitting.empty() && chance(depth > 0 ? 3 : 1)) return b_.var(fitting[random_() % fitting.size()]);
    if (depth > 0 && chance(3)) return block(type, depth);
    if (depth > 0 && chance(3)) {
      ExprPtr condition = b_.scalar(Scalar::from_int(DType::boolean(), random_() % 2));
      ExprPtr then_arm = make(type, depth - 1);
      return b_.branch(condition, then_arm, make(type, depth - 1));
    }
    if (type == kFunction) return function(depth);
    if (depth <= 0 && type == kPair) return b_.tuple({b_.i32(random_() % 10), b_.i32(random_() % 10)});
    if (depth <= 0) return b_.i32(random_() % 10);
    if (type == kPair && chance(2)) return b_.call(make(kFunction, depth - 1), {make(type, depth - 1)});
    if (type == kPair) return b_.tuple({make(kNumber, depth - 1), make(kNumber, depth - 1)});
    if (chance(2)) return b_.field(make(kPair, depth - 1), random_() % 2);
    return add_(make(kNumber, depth - 1), make(kNumber, depth - 1));
  }

  const Type kNumber = scalar_type(DType::int32());
  const Type kPair = tuple_type(std::vector<Type>{kNumber, kNumber});
  const Type kFunction = function_type(std::vector<Type>{kPair}, kPair);

 private:
  bool chance(uint32_t one_in) { return random_() % one_in == 0; }

  ExprPtr block(Type type, int depth) {
    const size_t outer = scope_.size();
    std::vector<Binding> bindings;
    for (uint32_t count = random_() % 4; count > 0; --count) {
      const Type types[] = {kNumber, kPair, kFunction};
      const Variable* v = b_.variable("v", types[random_() % 3]);
      ExprPtr value = make(v->type, depth - 1);
      bool named = !chance(5);
      bindings.push_back({named ? v : nullptr, value});
      if (named) scope_.push_back(v);
    }
    if (chance(4))
      bindings.push_back(
          {nullptr, b_.intrinsic(IntrinsicKind::Print, unit_type(), {make(type, depth - 1)}, {""})});
    ExprPtr result = make(type, depth - 1);
    scope_.resize(outer);
    return b_.block(bindings, result);
  }

  ExprPtr function(int depth) {
    const Variable* p = b_.variable("p", kPair);
    scope_.push_back(p);
    ExprPtr body = make(kPair, depth - 1);
    std::erase(scope_, p);
    return b_.fn({p}, body);
  }

  IrBuilder& b_;
  std::function<ExprPtr(ExprPtr, ExprPtr)> add_;
  std::mt19937 random_;
  std::vector<const Variable*> scope_;
};

TEST_F(VmTest, RandomProgramsRunAsTheInterpreterRunsThem) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    RandomPrograms programs(
        b, [this](ExprPtr x, ExprPtr y) { return add(x, y); }, seed);
    ExprPtr expr = b.block({}, programs.make(programs.kPair, 7));
    host.log.clear();
    std::string wanted = interpreted(expr), wanted_log = std::exchange(host.log, "");
    ASSERT_EQ(text(expr), wanted) << seed << "\n" << to_string(*compile(expr));
    ASSERT_EQ(host.log, wanted_log) << seed;
  }
}

}  // namespace
}  // namespace quern
