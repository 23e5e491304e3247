// Forms of tensors that kernels take: which of them are turned in registers.

#include <gtest/gtest.h>

#include <random>

#include "tests/jit/nest/dots_in_programs.h"
#include "tests/jit/nest/primitives_of_main.h"

namespace quern {
namespace {

/// The loops that make the one form that @main's kernel takes.
std::string form_of(const std::string& main) {
  const loops::Lowered lowered = lowered_main(main);
  return lowered.packed.size() == 1 ? loops::print_kernel(lowered.packed[0].form) : "not one form";
}

TEST(PackedForm, OfALargeTensorIsTurned) {
  const std::string text = form_of(
      "def @main(%a: Tensor[(64, 256), float32], %b: Tensor[(300, 256), float32]) { nn.dense(%a, %b) }");
  EXPECT_NE(text.find("turn acc0"), std::string::npos) << text;
}

/// It would take longer to compile than it saves.
TEST(PackedForm, OfASmallTensorIsNot) {
  const std::string text =
      form_of("def @main(%a: Tensor[(64, 50), float32], %b: Tensor[(30, 50), float32]) { nn.dense(%a, %b) }");
  EXPECT_EQ(text.find("turn"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel("), std::string::npos) << text;
}

/// Lanes that follow each other in the tensor are copied as they are.
TEST(PackedForm, OfRowsSideBySideIsNot) {
  const std::string text = form_of(
      "def @main(%a: Tensor[(64, 256), float32], %b: Tensor[(256, 300), float32]) { nn.matmul(%a, %b) }");
  EXPECT_EQ(text.find("turn"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel("), std::string::npos) << text;
}

/// The columns of the window outside of its rows.
const char* const kWindow =
    "def @main(%x: Tensor[(5, 5, 96), int32], %w: Tensor[(96, 96, 3, 3), int32]) {\n"
    "  [q < 96, x < 3, y < 3] => sum[d < 96, s < 3, r < 3] %x[x + s, y + r, d] * %w[q, d, r, s]\n"
    "}\n";
/// Every other place of the window, from its end.
const char* const kEveryOther =
    "def @main(%d: Tensor[(96, 5, 5), int32], %w: Tensor[(96, 96, 5, 5), int32]) {\n"
    "  [c < 96, y < 3, x < 3] => sum[q < 96, r < 3, s < 3] %d[q, y + r, x + s] * %w[q, c, 4 - 2 * r, 4 - 2 * "
    "s]\n"
    "}\n";

TEST(PackedForm, OfAWindowIsTurnedWholeInAnyOrder) {
  const std::string text = form_of(kWindow);
  EXPECT_NE(text.find("turn acc0"), std::string::npos) << text;
  EXPECT_NE(text.find("in 0..9 unroll"), std::string::npos) << text;
}

/// A block after the other: the lanes are outside of the window.
TEST(PackedForm, OfEveryOtherPlaceReadsBlocks) {
  const std::string text = form_of(kEveryOther);
  EXPECT_EQ(text.find("vectorize"), std::string::npos) << text;
  const size_t lane = text.find("for lane"), row = text.find("for r");
  EXPECT_TRUE(lane < row && row != std::string::npos) << text;
}

TEST(PackedForm, OfWindowsHasWhatTheInterpreterReads) {
  std::mt19937 engine(5);
  for (const std::string program : {kWindow, kEveryOther}) {
    Main main(program);
    const std::vector<Value> arguments = main.random_arguments(engine);
    expect_same(main.compiled(arguments, {.tiers = Tiers::Best}), main.interpreted(arguments), program);
  }
}

}  // namespace
}  // namespace quern
