#pragma once
// Expressions in the reference interpreter.

#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>
#include <functional>
#include <map>

#include "ir/interpret/interpreter.h"
#include "tests/dtypes.h"
#include "tests/ir/expr/ir_builder.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {

/// Deep recursion runs on a stack as large as the program's evaluation threads have.
inline void on_large_stack(std::function<void()> body) {
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

  void define(const std::string& name, ExprPtr body, std::vector<Dim> dim_vars = {}) {
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

}  // namespace quern
