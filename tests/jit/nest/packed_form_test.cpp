// Forms of tensors that kernels take: which of them are turned in registers.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace quern
