#pragma once
// Programs of contractions of few bits, evaluated by the interpreter and compiled.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ir/interpret/interpreter.h"
#include "jit/runtime/threads.h"
#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {

/// Random elements, every fourth of them extreme: the ends of integers; of floats zeros, subnormals and
/// numbers far from 1.
inline TensorPtr random_tensor(std::mt19937& engine, DType dtype, const Shape& shape) {
  TensorPtr tensor = HostTensor::make(dtype, shape);
  const std::vector<double> extremes =
      dtype.is_float() ? std::vector<double>{0, -0.0, 1e-39, -3e-40, 1e4, -1e4, 1e-20}
                       : std::vector<double>{lowest(dtype).as_double(), highest(dtype).as_double(), 0, 1};
  for (int64_t i = 0; i < tensor->size(); ++i) {
    const double any = dtype.is_float() ? std::uniform_real_distribution<double>(-2, 2)(engine)
                                        : static_cast<double>(engine() % 256) + lowest(dtype).as_double();
    const Scalar value =
        Scalar::from_double(dtype, engine() % 4 == 0 ? extremes[engine() % extremes.size()] : any);
    std::memcpy(tensor->data() + static_cast<size_t>(i) * dtype.bytes(), &value.bits, dtype.bytes());
  }
  return tensor;
}

/// A definition of @main, evaluated by the interpreter, or compiled.
class Main {
 public:
  explicit Main(const std::string& text) : text_(text) {
    session_.add_source(module_, "dot.relay", text);
    definition_ = session_.definition(module_, "main");
    if (!definition_) std::abort();
  }

  std::vector<Value> random_arguments(std::mt19937& engine, int64_t unknown = 0) const {
    std::vector<Value> values;
    for (const Variable* param : function()->params) {
      Shape shape;
      for (const Dim d : param->type->dims) shape.push_back(as_const(d).value_or(unknown));
      values.push_back(Value::tensor(random_tensor(engine, param->type->dtype, shape)));
    }
    return values;
  }

  TensorPtr interpreted(const std::vector<Value>& arguments) {
    Arena arena;
    Environment environment;
    std::vector<ExprPtr> variables;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Variable* v = make_variable(arena, "argument", function()->params[i]->type);
      environment.emplace(v, arguments[i]);
      variables.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, v->type, {}}, v));
    }
    ExprPtr call = arena.make<CallExpr>(Expr{ExprKind::Call, function()->body->type, {}}, function(),
                                        arena.copy(variables));
    FunctionSource& functions = session_.functions();
    return tensor_of(interpret(call, environment, functions, host_));
  }

  TensorPtr compiled(const std::vector<Value>& arguments, const CompilerOptions& options) {
    // A session's program keeps the kernels that it had first.
    Session session;
    const ModuleId module = session.make_module();
    session.add_source(module, "dot.relay", text_);
    Compiler compiler(session, options);
    return tensor_of(compiler.function(module, "main")(arguments, host_));
  }

  std::string loops(const CompilerOptions& options = CompilerOptions::from_environment()) {
    Compiler compiler(session_, options);
    auto text = compiler.stage_text(*definition_, "loops");
    return text ? *text : text.error().message;
  }

 private:
  const FnExpr* function() const { return as<FnExpr>(definition_->body); }
  static TensorPtr tensor_of(const EvaluationResult& result) {
    if (!result) ADD_FAILURE() << result.error().message;
    return result ? result.value().as_tensor() : HostTensor::zeros(DType::int32(), {0});
  }

  std::string text_;
  Session session_;
  ModuleId module_ = session_.make_module();
  const Definition* definition_ = nullptr;
  RecordingHost host_;
};

inline Scalar element(const TensorPtr& tensor, size_t i) {
  Scalar value{tensor->dtype()};
  std::memcpy(&value.bits, tensor->data() + i * value.dtype.bytes(), value.dtype.bytes());
  return value;
}

inline void expect_same(const TensorPtr& got, const TensorPtr& wanted, const std::string& what) {
  ASSERT_EQ(got->shape(), wanted->shape()) << what;
  for (size_t i = 0; i < static_cast<size_t>(wanted->size()); ++i)
    ASSERT_EQ(element(got, i), element(wanted, i)) << what << " at " << i;
}

/// A product of (m, k) and (n, k) on one thread by the best code, and on two by the first.
inline void expect_same_bits_on_two_threads(int m, int n, int k, const std::string& dtype,
                                            CompilerOptions options = {}) {
  Main main(
      fmt::format("def @main(%a: Tensor[({0}, {2}), {3}], %b: Tensor[({1}, {2}), {3}]) {{ "
                  "nn.dense(%a, %b, out_dtype=\"{4}\") }}",
                  m, n, k, dtype, dtype == "int8" ? "int32" : "float32"));
  std::mt19937 engine(4);
  const std::vector<Value> arguments = main.random_arguments(engine);
  const int before = thread_count();
  set_thread_count(1);
  options.tiers = Tiers::Best;
  const TensorPtr one = main.compiled(arguments, options);
  set_thread_count(2);
  options.tiers = Tiers::First;
  const TensorPtr two = main.compiled(arguments, options);
  set_thread_count(before);
  expect_same(one, two, dtype);
}

/// A product of (m, k) and (n, k) of 16 bits, added up in float32 (operators.md has the bound).
inline void expect_near_sums(size_t m, size_t n, size_t k, const std::string& dtype,
                             CompilerOptions options = {}) {
  Main main(
      fmt::format("def @main(%a: Tensor[({0}, {2}), {3}], %b: Tensor[({1}, {2}), {3}]) {{ "
                  "nn.dense(%a, %b, out_dtype=\"float32\") }}",
                  m, n, k, dtype));
  std::mt19937 engine(6);
  const std::vector<Value> arguments = main.random_arguments(engine);
  const TensorPtr a = arguments[0].as_tensor(), b = arguments[1].as_tensor();
  options.tiers = Tiers::First;
  const TensorPtr got = main.compiled(arguments, options);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0, terms = 0;
      for (size_t r = 0; r < k; ++r) {
        const double term = element(a, i * k + r).as_double() * element(b, j * k + r).as_double();
        sum += term;
        terms += std::abs(term);
      }
      const double error = std::ldexp(static_cast<double>(k) * terms, -24);
      ASSERT_NEAR(element(got, i * n + j).as_double(), sum, error) << dtype;
    }
}

/// Of int8 and uint8, of all sizes and borders.
inline const std::vector<std::string>& contractions() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{
             {1, 33, 64}, {7, 16, 5}, {6, 64, 12}, {13, 70, 31}, {40, 129, 66}, {64, 5, 40}, {3, 200, 7}}) {
      all.push_back(
          fmt::format("def @main(%a: Tensor[({0}, {2}), int8], %b: Tensor[({1}, {2}), int8]) {{ "
                      "nn.dense(%a, %b, out_dtype=\"int32\") }}",
                      m, n, k));
      all.push_back(
          fmt::format("def @main(%a: Tensor[({0}, {2}), int8], %b: Tensor[({2}, {1}), int8]) {{ "
                      "nn.matmul(%a, %b, out_dtype=\"int32\") }}",
                      m, n, k));
      for (const auto& [left, right] :
           std::vector<std::array<std::string, 2>>{{"uint8", "int8"}, {"int8", "uint8"}, {"uint8", "uint8"}})
        all.push_back(
            fmt::format("def @main(%a: Tensor[({0}, {2}), {3}], %b: Tensor[({2}, {1}), {4}]) {{ "
                        "[i < {0}, j < {1}] => sum[r < {2}] cast<int32>(%a[i, r]) * "
                        "cast<int32>(%b[r, j]) }}",
                        m, n, k, left, right));
    }
    all.push_back(
        "def @main(%a: Tensor[(3, 17, 40), int8], %b: Tensor[(3, 21, 40), int8]) { "
        "nn.batch_matmul(%a, %b, out_dtype=\"int32\") }");
    all.push_back(
        "def @main[n, m, k](%a: Tensor[(n, k), int8], %b: Tensor[(m, k), int8]) { "
        "nn.dense(%a, %b, out_dtype=\"int32\") }");
    all.push_back(
        "def @main[n](%a: Tensor[(n, 24), int8], %b: Tensor[(40, 24), int8]) { "
        "cast(nn.dense(%a, %b, out_dtype=\"int32\"), dtype=\"float32\") * 0.5 + 1 }");
    for (const std::string convolution : {"(2, 9, 7, 8), (3, 3, 8, 20), padding=[1, 1]",
                                          "(1, 12, 12, 16), (3, 3, 16, 33), padding=[2, 1], strides=[2, 1]",
                                          "(1, 8, 20, 6), (5, 5, 6, 16), padding=[2, 2], dilation=[1, 2]",
                                          "(1, 7, 7, 24), (3, 3, 6, 32), padding=[1, 1], groups=4",
                                          "(2, 6, 6, 13), (1, 1, 13, 40), strides=[1, 1]"}) {
      const size_t first = convolution.find("), (") + 1, second = convolution.find("), ", first + 2) + 1;
      all.push_back(
          fmt::format("def @main(%a: Tensor[{}, int8], %b: Tensor[{}, int8]) {{ nn.conv2d(%a, %b, "
                      "data_layout=\"NHWC\", kernel_layout=\"HWIO\", out_dtype=\"int32\"{}) }}",
                      convolution.substr(0, first), convolution.substr(first + 2, second - first - 2),
                      convolution.substr(second)));
    }
    return all;
  }();
  return texts;
}

}  // namespace quern
