#pragma once
// A program's @main, compiled, with arguments by chance.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {

class CompiledMain {
 public:
  /// `unknown` is the extent of dims that the types leave open.
  CompiledMain(const std::string& text, const CompilerOptions& options, int64_t unknown = 37)
      : compiler(session, options) {
    const ModuleId module = session.make_module();
    session.add_source(module, "test.relay", text);
    call = compiler.function(module, "main");
    if (!call) {
      ADD_FAILURE() << text;
      std::abort();
    }
    std::mt19937 random(7);
    for (const Variable* param : as<FnExpr>(session.definition(module, "main")->body)->params)
      arguments.push_back(random_tensor(param->type, unknown, random));
  }

  /// On values of its own, so that threads may run it side by side.
  TensorPtr run() const {
    std::vector<Value> values;
    for (const TensorPtr& argument : arguments) values.push_back(Value::tensor(argument));
    RecordingHost host;
    const EvaluationResult result = call(std::move(values), host);
    if (result) return result.value().as_tensor();
    ADD_FAILURE() << result.error().message;
    return HostTensor::zeros(DType::float32(), {0});
  }

  Session session;
  Compiler compiler;
  Compiler::Call call;
  std::vector<TensorPtr> arguments;

 private:
  static TensorPtr random_tensor(const Type& type, int64_t unknown, std::mt19937& random) {
    Shape shape;
    for (const Dim d : type->dims) shape.push_back(as_const(d).value_or(unknown));
    TensorPtr tensor = HostTensor::make(type->dtype, shape);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::uniform_int_distribution<int32_t> small(0, 4);
    if (type->dtype == DType::int32())
      for (int32_t& x : tensor->elements<int32_t>()) x = small(random);
    else
      for (float& x : tensor->elements<float>()) x = uniform(random);
    return tensor;
  }
};

inline bool same_bits(const TensorPtr& a, const TensorPtr& b) {
  return a->shape() == b->shape() && std::memcmp(a->data(), b->data(), a->bytes()) == 0;
}

/// Programs whose kernels are of all kinds: tiles and packed inputs, windows, scans, gathers, functions.
inline std::vector<std::string> kernel_programs() {
  const auto convolution = [](const std::string& image, const std::string& window, int groups) {
    return "def @main(%a: Tensor[" + image + ", float32], %b: Tensor[" + window +
           ", float32]) { nn.conv2d(%a, %b, padding=[1, 1], groups=" + std::to_string(groups) +
           ", data_layout=\"NHWC\", kernel_layout=\"HWIO\") }";
  };
  return {
      "def @main(%a: Tensor[(50, 30), float32], %b: Tensor[(30, 70), float32]) { nn.matmul(%a, %b) }",
      "def @main[n](%a: Tensor[(n, 30), float32], %b: Tensor[(70, 30), float32]) { nn.dense(%a, %b) }",
      convolution("(1, 12, 12, 8)", "(3, 3, 8, 16)", 1),
      convolution("(1, 20, 20, 16)", "(3, 3, 1, 16)", 16),
      "def @main[n](%a: Tensor[(n, 33), float32]) { nn.softmax(%a) }",
      "def @main(%a: Tensor[(5, 33), float32], %i: Tensor[(4, 7), int32]) { take(%a, %i, axis=0) }",
      "def @main[n, m](%a: Tensor[(n, m), float32]) { sum(exp(%a) * erf(%a), axis=[1]) }",
      "def @main(%a: Tensor[(6, 50), float32]) { cast(argmax(%a, axis=1), \"int32\") }",
      "def @main(%a: Tensor[(60, 70), float32]) { transpose(%a) + 1f }",
      "def @main(%a: Tensor[(6, 50), float32]) { cumsum(tanh(%a) / 3f, axis=1) }",
  };
}

}  // namespace quern
