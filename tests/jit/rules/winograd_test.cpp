// Convolutions by Winograd's minimal filtering against direct ones, within the error that is stated.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <random>

#include "jit/rules/winograd.h"
#include "jit/runtime/threads.h"
#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {
namespace {

TensorPtr random_tensor(std::mt19937& engine, const Shape& shape) {
  std::uniform_real_distribution<float> any(-1, 1);
  TensorPtr tensor = HostTensor::make(DType::float32(), shape);
  for (float& x : tensor->elements<float>()) x = any(engine);
  return tensor;
}

/// A definition of @main over random tensors, compiled with errors accepted or not.
class MainOfText {
 public:
  MainOfText(const std::string& text, int winograd_tile) {
    session_.add_source(module_, "winograd.relay", text);
    CompilerOptions options{Tiers::First};
    options.winograd_tile = winograd_tile;
    compiler_.emplace(session_, options);
    call_ = compiler_->function(module_, "main");
  }
  TensorPtr operator()(const std::vector<TensorPtr>& arguments) {
    std::vector<Value> values;
    values.reserve(arguments.size());
    for (const TensorPtr& tensor : arguments) values.push_back(Value::tensor(tensor));
    EvaluationResult result = call_(values, host_);
    EXPECT_TRUE(result) << result.error().message;
    return result ? result.value().as_tensor() : nullptr;
  }
  std::string loops() {
    auto text = compiler_->stage_text(*session_.definition(module_, "main"), "loops");
    return text ? *text : text.error().message;
  }

 private:
  Session session_;
  ModuleId module_ = session_.make_module();
  std::optional<Compiler> compiler_;
  Compiler::Call call_;
  RecordingHost host_;
};

struct Convolution {
  int64_t images, height, width, channels, filters, padding;
  std::string epilogue = "";

  std::string text() const {
    return fmt::format(
        "def @main(%d: Tensor[({}, {}, {}, {}), float32], %w: Tensor[(3, 3, {}, {}), float32]) {{ {}"
        "nn.conv2d(%d, %w, padding=[{}, {}], data_layout=\"NHWC\", kernel_layout=\"HWIO\"){} }}",
        images, height, width, channels, channels, filters, epilogue.empty() ? "" : "nn.relu(", padding,
        padding, epilogue.empty() ? "" : epilogue + ")");
  }
};

class Winograd : public testing::TestWithParam<int> {};

TEST_P(Winograd, IsAsNearAsItSays) {
  const int tile = GetParam();
  const std::vector<Convolution> convolutions = {
      {1, 12, 12, 16, 32, 1}, {1, 8, 16, 64, 64, 1},  {2, 9, 7, 17, 20, 1},
      {1, 4, 4, 16, 16, 0},   {3, 14, 5, 33, 40, 0},  {1, 30, 31, 16, 33, 1},
      {1, 13, 10, 20, 24, 2}, {1, 4, 100, 16, 16, 1}, {1, 10, 10, 16, 70, 1, " * 0.5 - 1"},
  };
  std::mt19937 engine(3);
  for (const Convolution& c : convolutions) {
    const std::vector<TensorPtr> inputs = {random_tensor(engine, {c.images, c.height, c.width, c.channels}),
                                           random_tensor(engine, {3, 3, c.channels, c.filters})};
    MainOfText direct(c.text(), 0), fast(c.text(), tile);
    ASSERT_NE(fast.loops().find("scratch"), std::string::npos) << c.text();
    ASSERT_EQ(direct.loops().find("scratch"), std::string::npos) << c.text();
    const TensorPtr wanted = direct(inputs), got = fast(inputs);
    ASSERT_TRUE(wanted && got);
    // No sum of absolute products is larger than that of all terms, each at most 1.
    const double bound = (tile == 2 ? 0x1p-20 : 0x1p-17) * 9 * static_cast<double>(c.channels);
    for (int64_t i = 0; i < wanted->size(); ++i)
      ASSERT_NEAR(got->elements<float>()[static_cast<size_t>(i)],
                  wanted->elements<float>()[static_cast<size_t>(i)], bound / 4)
          << c.text() << " at " << i;
  }
}

TEST_P(Winograd, HasTheSameBitsOnTwoThreads) {
  std::mt19937 engine(4);
  const Convolution c{1, 40, 40, 32, 48, 1};
  const std::vector<TensorPtr> inputs = {random_tensor(engine, {1, 40, 40, 32}),
                                         random_tensor(engine, {3, 3, 32, 48})};
  MainOfText program(c.text(), GetParam());
  const int before = thread_count();
  set_thread_count(1);
  const TensorPtr one = program(inputs);
  set_thread_count(2);
  const TensorPtr two = program(inputs);
  set_thread_count(before);
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(std::ranges::equal(one->elements<float>(), two->elements<float>()));
}

INSTANTIATE_TEST_SUITE_P(Tiles, Winograd, testing::Values(2, 4),
                         [](const auto& info) { return fmt::format("of_{}", info.param); });

TEST(WinogradRule, IsForPlainWindowsOfThreeAlone) {
  const auto is_used = [](const std::string& call, const std::string& weight = "(3, 3, 32, 32)") {
    MainOfText program(
        fmt::format("def @main(%d: Tensor[(1, 12, 12, 32), float32], %w: Tensor[{}, float32]) {{ {} }}",
                    weight, call),
        4);
    return program.loops().find("scratch") != std::string::npos;
  };
  const std::string layouts = "data_layout=\"NHWC\", kernel_layout=\"HWIO\")";
  EXPECT_TRUE(is_used("nn.conv2d(%d, %w, " + layouts));
  EXPECT_FALSE(is_used("nn.conv2d(%d, %w, strides=[2, 2], " + layouts));
  EXPECT_FALSE(is_used("nn.conv2d(%d, %w, dilation=[2, 2], " + layouts));
  EXPECT_FALSE(is_used("nn.conv2d(%d, %w, " + layouts, "(5, 5, 32, 32)"));
  EXPECT_FALSE(is_used("nn.conv2d(%d, %w, groups=2, " + layouts, "(3, 3, 16, 32)"));
  EXPECT_FALSE(is_used("nn.conv2d(cast(%d, dtype=\"float64\"), cast(%w, dtype=\"float64\"), " + layouts));
  EXPECT_FALSE(is_used("nn.avg_pool2d(%d, pool_size=[3, 3], layout=\"NHWC\")"));
}

}  // namespace
}  // namespace quern
