// Results of sums whose terms run in lanes.

#include "jit/rules/results_in_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "jit/loops/kernel.h"
#include "tests/jit/nest/dots_in_programs.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string loops_of(const std::string& program) {
  return print_kernel(lowered_main(program, wide_machine()).kernel);
}

std::string gate(int results, const std::string& body) {
  return fmt::format(
      "def @main(%x: Tensor[(1, 48), float32], %w: Tensor[({0}, 48), float32], %h: Tensor[(1, 20), float32], "
      "%u: Tensor[({0}, 20), float32], %c: Tensor[(1, {0}), float32]) {{ {1} }}",
      results, body);
}

const std::string kCell =
    "let %gate = sigmoid(nn.dense(%x, %w) + nn.dense(%h, %u)); %gate * %c + (1.0 - %gate) * tanh(%c)";

TEST(ResultsInLanes, WaitForTheirSumsInScratchMemory) {
  const std::string loops = loops_of(gate(64, kCell));
  EXPECT_THAT(loops, HasSubstr("for r in 0..20 vectorize 16"));
  EXPECT_THAT(loops, testing::ContainsRegex("for r_[0-9]+ in 0\\.\\.48 vectorize 16"));
  EXPECT_THAT(loops, testing::ContainsRegex("for i1_[0-9]+ in 0\\.\\.32 vectorize 16"));
}

// A vector of sums is not worth the way through memory where each takes an instruction.
TEST(ResultsInLanes, AreNotMadeOfPlainArithmetic) {
  EXPECT_THAT(loops_of(gate(64, "nn.dense(%x, %w) * %c")), Not(HasSubstr("sums")));
}

TEST(ResultsInLanes, AreNotMadeWhereASumNeedsAnothersResult) {
  const std::string loops = loops_of(
      "def @main(%x: Tensor[(64, 48), float32]) { let %m = max(%x, axis=[1], keepdims=True); "
      "log(sum(exp(%x - %m), axis=[1], keepdims=True)) + %m }");
  EXPECT_THAT(loops, Not(HasSubstr("sums")));
}

// An index of 64 bits beside the sum leaves its lanes as they are.
TEST(ResultsInLanes, DoNotNarrowTheLanesOfTheSum) {
  const std::string loops = loops_of(
      "def @main(%x: Tensor[(256,), float32], %w: Tensor[(256, 256), float32], %b: Tensor[(9, 256), "
      "float32], "
      "%t: int32) { [j < 256] => (sum[k < 256] %x[k] * %w[j, k]) + (%b[index(%t), j] else 0f) }");
  EXPECT_THAT(loops, HasSubstr("for k in 0..256 vectorize 16"));
}

/// Compiled on one thread and on two, beside what the interpreter gives of elements between -1 and 1.
void expect_near(const std::string& program, std::mt19937& engine) {
  Main main(program);
  std::vector<Value> arguments;
  for (const Value& any : main.random_arguments(engine)) {
    TensorPtr small = HostTensor::make(DType::float32(), any.as_tensor()->shape());
    for (float& x : small->elements<float>()) x = std::uniform_real_distribution<float>(-1, 1)(engine);
    arguments.push_back(Value::tensor(small));
  }
  const TensorPtr wanted = main.interpreted(arguments);
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    const TensorPtr got = main.compiled(arguments, {.tiers = Tiers::Best});
    ASSERT_EQ(got->shape(), wanted->shape());
    for (size_t i = 0; i < static_cast<size_t>(wanted->size()); ++i)
      ASSERT_NEAR(element(got, i).as_double(), element(wanted, i).as_double(), 1e-5)
          << program << "on " << threads << " threads, at " << i;
  }
  set_thread_count(1);
}

TEST(ResultsInLanes, AreThoseOfTheInterpreter) {
  std::mt19937 engine(5);
  for (const int results : {16, 33, 64, 100}) expect_near(gate(results, kCell), engine);
}

// Each class of the results that differ in their terms has scratch memory of its own.
TEST(ResultsInLanes, AreThoseOfTheInterpreterInEachClassOfResults) {
  std::mt19937 engine(6);
  const std::string program =
      "def @main(%v: Tensor[(3, 2, 32), float32], %t: Tensor[(32, 2, 16), float32]) {\n"
      "  [i < 3, a < 2, b < 32] => sin(%v[i, a, b])\n"
      "    + sum[j < 2, k < 16] if (-i == 0 and -a == 0) { %t[b, j, k] } else { 0f }\n"
      "}\n";
  EXPECT_THAT(loops_of(program), HasSubstr("sums"));
  expect_near(program, engine);
}

}  // namespace
}  // namespace quern
