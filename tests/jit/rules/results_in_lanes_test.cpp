// Results of sums whose terms run in lanes.

#include "jit/rules/results_in_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/jit/nest/dots_in_programs.h"

namespace quern {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string gate(int results, const std::string& body) {
  return fmt::format(
      "def @main(%x: Tensor[(1, 48), float32], %w: Tensor[({0}, 48), float32], %h: Tensor[(1, 20), float32], "
      "%u: Tensor[({0}, 20), float32], %c: Tensor[(1, {0}), float32]) {{ {1} }}",
      results, body);
}

const std::string kCell =
    "let %gate = sigmoid(nn.dense(%x, %w) + nn.dense(%h, %u)); %gate * %c + (1.0 - %gate) * tanh(%c)";

TEST(ResultsInLanes, WaitForTheirSumsInScratchMemory) {
  const std::string loops = Main(gate(64, kCell)).loops();
  EXPECT_THAT(loops, HasSubstr("for r in 0..20 vectorize 16"));
  EXPECT_THAT(loops, testing::ContainsRegex("for r_[0-9]+ in 0\\.\\.48 vectorize 16"));
  EXPECT_THAT(loops, testing::ContainsRegex("for i1_[0-9]+ in 0\\.\\.32 vectorize 16"));
}

// A vector of sums is not worth the way through memory where each takes an instruction.
TEST(ResultsInLanes, AreNotMadeOfPlainArithmetic) {
  EXPECT_THAT(Main(gate(64, "nn.dense(%x, %w) * %c")).loops(), Not(HasSubstr("sums")));
}

TEST(ResultsInLanes, AreNotMadeWhereASumNeedsAnothersResult) {
  const std::string loops =
      Main(
          "def @main(%x: Tensor[(64, 48), float32]) { let %m = max(%x, axis=[1], keepdims=True); "
          "log(sum(exp(%x - %m), axis=[1], keepdims=True)) + %m }")
          .loops();
  EXPECT_THAT(loops, Not(HasSubstr("sums")));
}

// An index of 64 bits beside the sum leaves its lanes as they are.
TEST(ResultsInLanes, DoNotNarrowTheLanesOfTheSum) {
  const std::string loops =
      Main(
          "def @main(%x: Tensor[(256,), float32], %w: Tensor[(256, 256), float32], %b: Tensor[(9, 256), "
          "float32], "
          "%t: int32) { [j < 256] => (sum[k < 256] %x[k] * %w[j, k]) + (%b[index(%t), j] else 0f) }")
          .loops();
  EXPECT_THAT(loops, HasSubstr("for k in 0..256 vectorize 16"));
}

TEST(ResultsInLanes, AreThoseOfTheInterpreter) {
  std::mt19937 engine(5);
  for (const int results : {16, 33, 64, 100}) {
    const std::string program = gate(results, kCell);
    Main main(program);
    std::vector<Value> arguments;
    for (const Value& any : main.random_arguments(engine)) {
      TensorPtr small = HostTensor::make(DType::float32(), any.as_tensor()->shape());
      auto* elements = reinterpret_cast<float*>(small->data());
      for (int64_t i = 0; i < small->size(); ++i)
        elements[i] = std::uniform_real_distribution<float>(-1, 1)(engine);
      arguments.push_back(Value::tensor(small));
    }
    const TensorPtr wanted = main.interpreted(arguments);
    for (const int threads : {1, 2}) {
      set_thread_count(threads);
      const TensorPtr got = main.compiled(arguments, {.tiers = Tiers::Best});
      ASSERT_EQ(got->shape(), wanted->shape());
      for (size_t i = 0; i < static_cast<size_t>(wanted->size()); ++i)
        ASSERT_NEAR(element(got, i).as_double(), element(wanted, i).as_double(), 1e-5)
            << results << " results on " << threads << " threads, at " << i;
    }
    set_thread_count(1);
  }
}

}  // namespace
}  // namespace quern
