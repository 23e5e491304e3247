// Kernels on several threads: the same bits as on one, run after run.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <random>
#include <vector>

#include "ir/base/internal_failure.h"
#include "jit/runtime/threads.h"
#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

class Threads : public ::testing::Test {
 protected:
  ~Threads() override { set_thread_count(1); }

  static TensorPtr random_tensor(const Type& type, int64_t unknown) {
    Shape shape;
    for (const Dim d : type->dims) shape.push_back(as_const(d).value_or(unknown));
    TensorPtr tensor = HostTensor::make(type->dtype, shape);
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : tensor->elements<float>()) x = uniform(random);
    return tensor;
  }

  /// The result of @main on 1, 2 and 3 threads, each twice.
  static void expect_same_bits(const std::string& text, int64_t unknown = 300) {
    Session session;
    const ModuleId module = session.make_module();
    session.add_source(module, "test.relay", text);
    Compiler compiler(session);
    const Compiler::Call call = compiler.function(module, "main");
    ASSERT_TRUE(call) << text;
    const auto* function = as<FnExpr>(session.definition(module, "main")->body);
    std::vector<Value> arguments;
    for (const Variable* param : function->params)
      arguments.push_back(Value::tensor(random_tensor(param->type, unknown)));
    RecordingHost host;
    TensorPtr expected;
    for (const int threads : {1, 2, 3, 2, 1}) {
      set_thread_count(threads);
      const EvaluationResult result = call(arguments, host);
      ASSERT_TRUE(result) << result.error().message;
      const TensorPtr now = result.value().as_tensor();
      if (!expected) expected = now;
      ASSERT_EQ(std::memcmp(now->data(), expected->data(), now->bytes()), 0)
          << threads << " threads: " << text;
    }
  }
};

TEST_F(Threads, HandWhatAPartThrowsToTheCaller) {
  set_thread_count(3);
  for (int64_t bad : {0, 250, 499}) {
    auto bug = failure_of([&] {
      for_each_part(500, 1, [&](int64_t begin, int64_t end) { QUERN_CHECK(bad < begin || bad >= end); });
    });
    ASSERT_TRUE(bug);
    EXPECT_NE(std::string_view(bug->what()).find("bad < begin"), std::string_view::npos);
    std::atomic<int64_t> steps = 0;
    for_each_part(500, 1, [&](int64_t begin, int64_t end) { steps += end - begin; });
    EXPECT_EQ(steps, 500);
  }
}

TEST_F(Threads, GiveTheSameBits) {
  expect_same_bits(
      "def @main(%a: Tensor[(130, 90), float32], %b: Tensor[(90, 170), float32]) { nn.matmul(%a, %b) }");
  expect_same_bits(
      "def @main[n](%a: Tensor[(n, 90), float32], %b: Tensor[(170, 90), float32]) { nn.dense(%a, %b) }");
  expect_same_bits(
      "def @main(%a: Tensor[(1, 20, 20, 24), float32], %b: Tensor[(3, 3, 24, 40), float32]) { nn.conv2d(%a, "
      "%b, "
      "padding=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\") }");
  expect_same_bits(
      "def @main(%a: Tensor[(1, 40, 40, 64), float32], %b: Tensor[(3, 3, 1, 64), float32]) { nn.conv2d(%a, "
      "%b, "
      "padding=[1, 1], groups=64, data_layout=\"NHWC\", kernel_layout=\"HWIO\") }");
  expect_same_bits(
      "def @main(%a: Tensor[(1, 4, 11, 26, 13), float32], %b: Tensor[(3, 3, 3, 13, 52), float32]) { "
      "nn.conv3d(%a, %b, strides=[2, 2, 2], padding=[1, 1, 1], data_layout=\"NDHWC\", "
      "kernel_layout=\"DHWIO\") }");
  expect_same_bits("def @main(%a: Tensor[(600, 700), float32]) { transpose(%a) }");
  expect_same_bits("def @main[n](%a: Tensor[(n, n, 7), float32]) { exp(%a) * %a }");
  expect_same_bits("def @main(%a: Tensor[(600, 700), float32]) { nn.softmax(%a) }");
  expect_same_bits("def @main(%a: Tensor[(600, 700), float32]) { cumsum(%a, axis=1) }");
}

std::string loops_of_main(const std::string& main) { return loops::print_kernel(lowered_main(main).kernel); }

/// 512 filters are 16 panels, with 4 steps of rows each.
TEST_F(Threads, ShareTheRowsOfPanelsWherePanelsAreFew) {
  const std::string text = loops_of_main(
      "def @main(%a: Tensor[(1, 14, 14, 256), float32], %b: Tensor[(3, 3, 256, 512), float32]) { "
      "nn.conv2d(%a, %b, strides=[2, 2], padding=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\") }");
  EXPECT_NE(text.find("range(64)"), std::string::npos) << text;
  EXPECT_NE(text.find("in range from 4*qo {"), std::string::npos) << text;
}

/// Steps of one loop alone would be shared 3 to 2.
TEST_F(Threads, ShareTwoLoopsWhereTheInnerOneIsShort) {
  const std::string text = loops_of_main(
      "def @main(%a: Tensor[(1, 7, 10, 10, 21), float32], %b: Tensor[(3, 3, 3, 21, 50), float32]) { "
      "nn.conv3d(%a, %b, strides=[2, 2, 2], padding=[1, 1, 1], data_layout=\"NDHWC\", "
      "kernel_layout=\"DHWIO\") }");
  EXPECT_NE(text.find("range(20)"), std::string::npos) << text;
  EXPECT_NE(text.find("for i2 in 0..5 in range from 5*i1 {"), std::string::npos) << text;
}

TEST_F(Threads, ShareAllStepsOnce) {
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      for_each_part(count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t step = begin; step < end; ++step) ++done[static_cast<size_t>(step)];
      });
      for (const auto& times : done) ASSERT_EQ(times.load(), 1);
    }
  }
}

/// A job ends while its helpers look for more to do, and the next one is there already. A step that nobody
/// does would keep the caller for ever.
TEST_F(Threads, LoseNoStepsBetweenShortJobs) {
  constexpr int kJobs = 300000;
  for (const int threads : {2, 3, 8}) {
    set_thread_count(threads);
    std::atomic<int64_t> done = 0;
    auto jobs = std::async(std::launch::async, [&] {
      for (int job = 0; job < kJobs; ++job)
        for_each_part(8 + job % 8, 1, [&](int64_t begin, int64_t end) { done += end - begin; });
    });
    if (jobs.wait_for(std::chrono::seconds(100)) != std::future_status::ready) {
      ADD_FAILURE() << "a job of " << threads << " threads does not end";
      std::_Exit(1);
    }
    int64_t steps = 0;
    for (int job = 0; job < kJobs; ++job) steps += 8 + job % 8;
    EXPECT_EQ(done.load(), steps);
  }
}

TEST_F(Threads, StopWithTheTrapOfTheFirstPart) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "test.relay",
                     "def @main(%a: Tensor[(1000,), float32], %i: Tensor[(700, 800), int32]) { take(%a, %i, "
                     "mode=\"fast\") }");
  Compiler compiler(session);
  const Compiler::Call call = compiler.function(module, "main");
  ASSERT_TRUE(call);
  TensorPtr indices = HostTensor::zeros(DType::int32(), {700, 800});
  indices->elements<int32_t>()[5000] = 2000;
  indices->elements<int32_t>()[559000] = -2000;
  set_thread_count(2);
  RecordingHost host;
  const EvaluationResult result =
      call({Value::tensor(HostTensor::zeros(DType::float32(), {1000})), Value::tensor(indices)}, host);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("2000"), std::string::npos) << result.error().message;
}

}  // namespace
}  // namespace quern
