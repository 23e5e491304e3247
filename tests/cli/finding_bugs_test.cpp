// `quern bisect` and `quern reduce` on failures that are planted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kProgram = R"(
def @scaled[n](%x: Tensor[(n, 8), float32], %k: float32) -> Tensor[(n, 8), float32] { nn.relu(%x * %k) }
def @layer(%a: Tensor[(4, 8), float32], %b: Tensor[(8,), float32]) {
  let %c = nn.softmax(@scaled(%a, 2f), axis=1);
  sum(%c * exp(%b), axis=[1])
}
let %unused = [1f, 2f, 3f];
@layer(ones((4, 8)), zeros((8,))) + sum(%unused)
)";

class FindingBugs : public testing::Test {
 protected:
  FindingBugs() {
    std::ofstream(folder / "main.relay") << kProgram;
    setenv("TMPDIR", folder.string().c_str(), 1);
  }
  ~FindingBugs() override { unsetenv("TMPDIR"); }
  ProgramOutcome quern(std::vector<std::string> arguments, const std::string& planted = "") {
    arguments.insert(arguments.begin(), QUERN_BINARY);
    if (!planted.empty()) setenv("QUERN_FAIL_CHECK", planted.c_str(), 1);
    ProgramOutcome outcome = run_program(arguments, folder.string());
    unsetenv("QUERN_FAIL_CHECK");
    return outcome;
  }
  const TemporaryFolder folder;
};

TEST_F(FindingBugs, BisectGoesThroughEveryStepWhereNoneDiffers) {
  ProgramOutcome outcome = quern({"bisect", "main.relay"});
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out,
              HasSubstr("the pass place_kernels    the same\nplain loops               the same\n"));
  EXPECT_THAT(outcome.out, HasSubstr("schedules, two threads    the same\n\nNo step changes the results.\n"));
}

TEST_F(FindingBugs, BisectRefusesWhatDoesNotCheck) {
  std::ofstream(folder / "main.relay") << "%missing\n";
  ProgramOutcome outcome = quern({"bisect", "main.relay"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is nothing to compare"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(FindingBugs, ReduceRefusesWhatDoesNotFail) {
  ProgramOutcome outcome = quern({"reduce", "main.relay"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("`main.relay` does not fail"));
}

TEST_F(FindingBugs, ReduceKeepsWhatACommandFailsFor) {
  // It fails for what has a call of exp on its second line or after that.
  ProgramOutcome outcome =
      quern({"reduce", "--output", "small.relay", "main.relay", "--", "sh", "-c", "! grep -q 'exp(' \"$0\""});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_file(folder / "small.relay"),
            "// `sh -c ! grep -q 'exp(' \"$0\"`: its exit code is 1\nexp(1f);\n");
}

#ifdef QUERN_FAIL_CHECKS

TEST_F(FindingBugs, BisectNamesThePassThatFails) {
  ProgramOutcome outcome = quern({"bisect", "main.relay"}, "to_anf");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("the pass gradient         the same\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Results differ from here on: the pass to_anf\n"));
}

TEST_F(FindingBugs, BisectNamesTheLoweringThatFails) {
  ProgramOutcome outcome = quern({"bisect", "main.relay"}, "code softmax");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("the pass lift_kernels     the same\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Results differ from here on: plain loops\n"));
}

TEST_F(FindingBugs, ReduceKeepsTheBugThatIsTold) {
  ProgramOutcome outcome = quern({"reduce", "main.relay"}, "to_anf");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("// `quern run`: its exit code is 70: error[Q0901]: a bug of Quern: "));
  EXPECT_THAT(outcome.out, HasSubstr("in the stage `to_anf"));
  EXPECT_THAT(outcome.out, EndsWith("1f;\n"));
}

#endif

}  // namespace
}  // namespace quern
