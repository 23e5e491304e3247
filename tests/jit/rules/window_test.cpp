// Schedules of reductions along the result's last index.

#include "jit/rules/window.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "ir/expr/schedule.h"
#include "tests/jit/nest/dots_in_programs.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The gradient of depthwise filters: for each of 3x3 places a sum over an image.
std::string gradient_of_filters(int channels, int height, int width, int stride = 1) {
  return fmt::format(
      "def @main(%dy: Tensor[({1}, {2}, {0}), int32], %x: Tensor[({3}, {4}, {0}), int32]) {{\n"
      "  [h < 3, w < 3, c < {0}] => sum[y < {1}, x < {2}]\n"
      "    %dy[y, x, c] * (%x[{5} * y + h - 1, {5} * x + w - 1, c] else 0)\n"
      "}}\n",
      channels, height, width, stride * height, stride * width, stride);
}

std::string schedule_of(const std::string& program) {
  return to_string(lowered_main(program).schedules.at(0));
}

TEST(WindowRule, HoldsTheSumsOfAllPlacesThatShareARead) {
  EXPECT_THAT(schedule_of(gradient_of_filters(64, 28, 28)),
              AllOf(HasSubstr("unroll(h)"), HasSubstr("unroll(w)"), HasSubstr("peel(xo)")));
}

// One read, of which nothing is shared.
TEST(WindowRule, HasNoTileOfPlacesThatReadOneTensor) {
  const std::string program =
      "def @main(%x: Tensor[(30, 30, 64), float32]) {\n"
      "  [h < 3, w < 3, c < 64] => sum[y < 28, x < 28] %x[y + h, x + w, c]\n"
      "}\n";
  EXPECT_THAT(schedule_of(program), Not(HasSubstr("unroll(h)")));
}

std::string depthwise(int channels, int size, int stride) {
  return fmt::format(
      "def @main(%x: Tensor[(1, {1}, {1}, {0}), float32], %w: Tensor[(3, 3, 1, {0}), float32]) {{\n"
      "  nn.conv2d(%x, %w, strides=[{2}, {2}], padding=[1, 1], groups={0}, data_layout=\"NHWC\", "
      "kernel_layout=\"HWIO\")\n"
      "}}\n",
      channels, size, stride);
}

// Pixels of 1 KiB: the 51 lines of eight rows are in four sets, of eight each. Those of 768 bytes are in sixteen sets. A vector of
// 64 bytes is a line.
TEST(WindowRule, ReadsWholeLinesWhereTheCacheLosesThem) {
  const auto schedule_on = [](const std::string& program, const loops::MachineModel& machine) {
    return to_string(lowered_main(program, machine).schedules.at(0));
  };
  EXPECT_THAT(schedule_on(depthwise(256, 28, 2), narrow_machine()),
              AllOf(HasSubstr("split(x, 4)"), HasSubstr("split(q, 16)")));
  EXPECT_THAT(schedule_on(depthwise(192, 28, 1), narrow_machine()),
              AllOf(HasSubstr("split(x, 8)"), HasSubstr("split(q, 8)")));
  EXPECT_THAT(schedule_on(depthwise(256, 28, 2), wide_machine()),
              AllOf(HasSubstr("split(x, 8)"), HasSubstr("split(q, 48)")));
  const std::string pool =
      "def @main(%x: Tensor[(1, 28, 28, 256), float32]) {\n"
      "  nn.avg_pool2d(%x, pool_size=[2, 2], layout=\"NHWC\")\n"
      "}\n";
  EXPECT_THAT(schedule_on(pool, wide_machine()), HasSubstr("split(x, 8)"));
}

// Pooled windows of 3 places that move by two share a third of what they read; in stride one they share most of it, and
// so do windows of 7 places.
TEST(WindowRule, PoolsPixelByPixelWhereWindowsShareLittle) {
  const auto schedule = [](int size, int stride) {
    return to_string(lowered_main(fmt::format("def @main(%x: Tensor[(1, 55, 55, 64), float32]) {{\n"
                                              "  nn.max_pool2d(%x, pool_size=[{0}, {0}], strides=[{1}, {1}], "
                                              "layout=\"NHWC\")\n}}\n",
                                              size, stride),
                                  narrow_machine())
                         .schedules.at(0));
  };
  EXPECT_THAT(schedule(3, 2), AllOf(HasSubstr("split(q, 64)"), Not(HasSubstr("split(x"))));
  EXPECT_THAT(schedule(3, 1), HasSubstr("split(x, 8)"));
  EXPECT_THAT(schedule(7, 2), HasSubstr("split(x"));
}

TEST(WindowRule, SumsGradientsOfFiltersAsTheInterpreterDoes) {
  std::mt19937 engine(3);
  for (const int channels : {16, 33, 100})
    for (const auto& [height, width] : {std::pair(6, 7), std::pair(9, 12), std::pair(14, 3)})
      for (const int stride : {1, 2}) {
        const std::string program = gradient_of_filters(channels, height, width, stride);
        Main main(program);
        const std::vector<Value> arguments = main.random_arguments(engine);
        expect_same(main.compiled(arguments, {.tiers = Tiers::Best}), main.interpreted(arguments), program);
      }
}

}  // namespace
}  // namespace quern
