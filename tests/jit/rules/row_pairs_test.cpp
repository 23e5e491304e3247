// Two rows in the steps of one loop.

#include "jit/rules/row_pairs.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/jit/nest/primitives_of_main.h"

namespace quern::loops {
namespace {

std::string norm(const std::string& rows, const std::string& width) {
  const std::string of_width = "Tensor[(" + width + ",), float32]";
  return "def @main" + std::string(rows == "n" ? "[n]" : "") + "(%x: Tensor[(" + rows + ", " + width +
         "), float32], %g: " + of_width + ", %b: " + of_width + ") { nn.layer_norm(%x, %g, %b) }";
}

/// The loops over rows: how many sums the first pass of each has.
std::string sums_of_first_pass(const std::string& program, const MachineModel& machine = narrow_machine()) {
  const Lowered lowered = lowered_main(program, machine);
  std::string found;
  for (const StmtPtr& stmt : lowered.kernel.body) {
    auto* rows = as<For>(stmt);
    if (!rows) return "no loop";
    for (const StmtPtr& inside : rows->body)
      if (auto* pass = as<For>(inside)) {
        found += (found.empty() ? "" : ", ") + std::to_string(pass->body.size());
        break;
      }
  }
  return found;
}

TEST(RowPairs, AreOfShortRows) {
  EXPECT_EQ(sums_of_first_pass(norm("4", "64")), "2");
  EXPECT_EQ(sums_of_first_pass(norm("5", "64")), "2, 1");
  EXPECT_EQ(sums_of_first_pass(norm("n", "64")), "2, 1");
  EXPECT_EQ(sums_of_first_pass(norm("1", "64")), "1");
  // Four kibibytes, of which the cache holds two rows that are read and two that are written.
  EXPECT_EQ(sums_of_first_pass(norm("4", "2048")), "2");
  EXPECT_EQ(sums_of_first_pass(norm("4", "2056")), "1");
}

TEST(RowPairs, ShareNoLoopsThatTakeLong) {
  EXPECT_EQ(sums_of_first_pass("def @main(%x: Tensor[(4, 64), float32]) { nn.softmax(%x) }"), "1");
}

TEST(RowPairs, HaveARangeOfPairsAndOfTheLast) {
  const Lowered lowered = lowered_main(norm("5", "64"), narrow_machine());
  EXPECT_TRUE(is_const(lowered.kernel.range, 3));
  ASSERT_EQ(lowered.kernel.body.size(), 2U);
  EXPECT_TRUE(is_const(as<For>(lowered.kernel.body[0])->serial()->before, 0));
  EXPECT_TRUE(is_const(as<For>(lowered.kernel.body[1])->serial()->before, 2));
}

}  // namespace
}  // namespace quern::loops
