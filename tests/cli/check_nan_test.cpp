// `quern run --check-nan`: the first operation that makes a NaN ends the run, with its place and its operands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/golden/run_program.h"

namespace quern {
namespace {

using testing::HasSubstr;

std::string checked(const std::string& program) {
  const ProgramOutcome outcome = run_program({QUERN_BINARY, "run", "--check-nan", "-c", program}, "/");
  return outcome.out + outcome.err;
}

TEST(CheckNan, NamesTheOperationInAFusedKernel) {
  const std::string shown = checked(
      "let %x = [4f, 1f, -2f];\n"
      "let %y = exp(%x) + log(%x * 2f) * 3f;\n"
      "print(%y)");
  EXPECT_THAT(shown, HasSubstr("`log` of -4 is a NaN"));
  EXPECT_THAT(shown,
              HasSubstr("2 | let %y = exp(%x) + log(%x * 2f) * 3f;\n  |                    ^^^^^^^^^^^^\n"));
}

TEST(CheckNan, NamesTheOperationOnScalars) {
  EXPECT_THAT(checked("def @f(%n: int32, %x: float32) -> float32 { if (%n == 0) { %x } else { @f(%n - 1, "
                      "sqrt(%x - 1f)) } }\n"
                      "@f(3, 1.5)"),
              HasSubstr("`sqrt` of"));
  EXPECT_THAT(checked("let %zero = 0f; %zero / %zero"), HasSubstr("`/` of 0 and 0 is a NaN"));
}

TEST(CheckNan, LooksIntoSumsAndTheArmsThatAreTaken) {
  EXPECT_THAT(checked("let %x = [[1f, 2f], [3f, -4f]]; [i < 2] => sum[j < 2] sqrt(%x[i, j])"),
              HasSubstr("`sqrt` of -4 is a NaN"));
  EXPECT_EQ(checked("let %x = [1f, -1f]; print([i < 2] => select(%x[i] > 0f, sqrt(%x[i]), 0f))"), "[1, 0]\n");
  EXPECT_THAT(checked("let %x = [1f, -1f]; [i < 2] => select(%x[i] > 0f, 0f, log(%x[i]))"),
              HasSubstr("`log` of -1 is a NaN"));
  EXPECT_THAT(checked("let %x = [inff, -inff]; sum(%x)"), HasSubstr("is a NaN"));
  EXPECT_THAT(checked("let %x = [4f, -9f]; [i < 2] => { let %root = sqrt(%x[i]); %root + %root * 2f }"),
              HasSubstr("`sqrt` of -9 is a NaN"));
}

// The interpreter would take minutes for all of its 3.6 billion products.
TEST(CheckNan, EvaluatesOneElementOfALargeKernel) {
  EXPECT_THAT(checked("let %a = [i < 1536, j < 1536] => select(i == 5 and j == 7, inff, 1f);\n"
                      "let %c = nn.dense(%a, zeros((1536, 1536)));\n%c[0, 0]"),
              HasSubstr("`*` of inf and 0 is a NaN"));
}

TEST(CheckNan, ReportsTheLineOfTheUserForAnOperatorOfTheLibrary) {
  const std::string shown = checked("let %x = [[-inff, -inff]];\nlet %p = nn.softmax(%x);\nsum(%p)");
  EXPECT_THAT(shown, HasSubstr("is a NaN"));
  EXPECT_THAT(shown, HasSubstr("2 | let %p = nn.softmax(%x);"));
}

TEST(CheckNan, LetsTheNansThatWereGivenThrough) {
  EXPECT_EQ(checked("let %x = [nan, 1.0]; print(%x + 1.0)"), "[nan, 2]\n");
  EXPECT_EQ(checked("print([inff, 1f] * 2f)"), "[inf, 2]\n");
}

TEST(CheckNan, FindsWhereAGradientMakesOne) {
  EXPECT_THAT(checked("def @f(%x: Tensor[(2,), float32]) { sum(sqrt(%x) * 0f) }\ngrad(@f)([0f, 1f])"),
              HasSubstr("is a NaN"));
}

TEST(CheckNan, IsOfCompiledCode) {
  const ProgramOutcome outcome =
      run_program({QUERN_BINARY, "run", "--check-nan", "--interpret", "-c", "1"}, "/");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("leave `--interpret` out"));
}

}  // namespace
}  // namespace quern
