// Training as people do it: checkpoints that survive whatever ends a run, random numbers of a run, examples.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
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
using testing::HasSubstr;

/// A copy of the digits' training and its data.
class Training : public testing::Test {
 protected:
  Training() {
    const fs::path examples = fs::path(QUERN_SOURCE_DIR) / "examples";
    fs::copy(examples / "train_digits.relay", folder_ / "train_digits.relay");
    fs::create_directory(folder_ / "data");
    fs::copy(examples / "data" / "digits.npz", folder_ / "data" / "digits.npz");
  }

  static std::vector<std::string> command(int seed, int epochs) {
    return {QUERN_BINARY,
            "run",
            "train_digits.relay",
            "--input",
            "seed=" + std::to_string(seed),
            "--input",
            "epochs=" + std::to_string(epochs)};
  }
  ProgramOutcome train(int seed, int epochs) const {
    return run_program(command(seed, epochs), folder_.path().string());
  }
  fs::path checkpoint() const { return folder_ / "digits.safetensors"; }

  TemporaryFolder folder_;
};

TEST_F(Training, OfTheDigitsFindsThemInTheMedianOfFiveSeeds) {
  std::vector<double> found;
  for (int seed = 0; seed < 5; ++seed) {
    fs::remove(checkpoint());
    const ProgramOutcome outcome = train(seed, 20);
    const size_t at = outcome.out.find("accuracy: ");
    ASSERT_NE(at, std::string::npos) << outcome.out << outcome.err;
    found.push_back(std::stod(outcome.out.substr(at + 10)));
  }
  std::ranges::sort(found);
  EXPECT_GE(found[2], 0.985);
}

TEST_F(Training, ThatIsKilledGoesOnToTheSameBits) {
  constexpr int kEpochs = 8;
  const ProgramOutcome whole = train(3, kEpochs);
  const std::string bits = read_file(checkpoint());
  ASSERT_EQ(whole.code, 0) << whole.err;
  ASSERT_FALSE(bits.empty());
  fs::remove(checkpoint());
  // Later and later, so that the kills come while it compiles, trains and writes.
  int kills = 0;
  for (int delay = 100; delay < 4000; delay += 60 + 7 * kills) {
    const pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stdout)) _exit(126);
      program_detail::become(command(3, kEpochs), folder_.path().string());
    }
    usleep(static_cast<useconds_t>(delay) * 1000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) break;
    ++kills;
    if (!fs::exists(checkpoint())) continue;
    const ProgramOutcome read = run_program(
        {QUERN_BINARY, "-c", "print(load(\"digits.safetensors\", \"epoch\"))"}, folder_.path().string());
    EXPECT_EQ(read.err, "") << "after " << delay << " ms";
  }
  EXPECT_GT(kills, 1);
  const ProgramOutcome outcome = train(3, kEpochs);
  EXPECT_EQ(outcome.out, whole.out) << outcome.err;
  EXPECT_EQ(read_file(checkpoint()), bits);
}

// A limit on the size of files fails a write as a full disk does.
TEST_F(Training, KeepsTheCheckpointThatAFullDiskRefusesToReplace) {
  ASSERT_EQ(train(1, 1).code, 0);
  const std::string before = read_file(checkpoint());
  const ProgramOutcome outcome = run_program(
      {"/bin/bash", "-c",
       "trap '' XFSZ; ulimit -f 100; exec " QUERN_BINARY " run train_digits.relay --input epochs=3"},
      folder_.path().string());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("digits.safetensors': File too large."));
  EXPECT_THAT(outcome.err, HasSubstr("save(\"digits.safetensors\", %next);"));
  EXPECT_EQ(read_file(checkpoint()), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 3)
      << "something is left";
}

class Drawn : public testing::Test {
 protected:
  static std::string run(const std::vector<std::string>& more) {
    std::vector<std::string> command{
        QUERN_BINARY, "run", "-c",
        "print(@sample.uniform(0.0, 1.0, out_shape=(3,)));"
        "print(@sample.normal(0.0, 1.0, out_shape=(2,)), @sample.permutation(4));"
        "print(random.uniform(next_key(), 0.0, 1.0, (2,)).1)"};
    command.insert(command.end(), more.begin(), more.end());
    const ProgramOutcome outcome = run_program(command, "/");
    return outcome.out + outcome.err;
  }
};

TEST_F(Drawn, NumbersAreThoseOfTheSeed) {
  const std::string first = run({});
  EXPECT_EQ(run({}), first);
  EXPECT_EQ(run({"--seed", "0"}), first);
  EXPECT_NE(run({"--seed", "1"}), first);
}

TEST_F(Drawn, NumbersAreTheSameInterpreted) {
  EXPECT_EQ(run({"--interpret", "--seed", "5"}), run({"--seed", "5"}));
}

TEST_F(Drawn, KeysAreThoseOfThreefryByTheirNumber) {
  const ProgramOutcome outcome =
      run_program({QUERN_BINARY, "run", "--seed", "9", "-c",
                   "assert_equal(next_key(), random.threefry_key(9)); print(next_key())"},
                  "/");
  EXPECT_EQ(outcome.out, "[9, 1, 0, 0, 0, 0, 0, 0, 9223372036854775808, 0]\n") << outcome.err;
}

// What the gradient of a dropout is, is its mask; drawn again it would be another.
TEST_F(Drawn, NumbersAreDrawnOnceByAGradient) {
  for (const char* function : {"@f", "checkpoint(@f)"}) {
    const std::string program =
        "def @f(%x: Tensor[(64,), float32]) { sum(@sample.dropout(%x) * %x) }\n"
        "let (%value, %slope) = value_and_grad(" +
        std::string(function) +
        ")(ones((64,)));\n"
        "print(2f * %value == sum(%slope.0), %value > 0f, sum(cast(%slope.0 == 0f, dtype=\"int32\")) > 0)";
    const ProgramOutcome outcome = run_program({QUERN_BINARY, "run", "-c", program}, "/");
    EXPECT_EQ(outcome.out, "True True True\n") << function << outcome.err;
  }
}

TEST(Inputs, OfScalarsAreValues) {
  const auto run = [](const std::string& input) {
    const ProgramOutcome outcome =
        run_program({QUERN_BINARY, "run", "--input", input, "-c",
                     "let %n = 1; let %x = 2.5; let %yes = True; let %v = [1.0]; print(%n, %x, %yes)"},
                    "/");
    return outcome.out + outcome.err;
  };
  EXPECT_EQ(run("n=-7"), "-7 2.5 True\n");
  EXPECT_EQ(run("x=1e-3"), "1 0.001 True\n");
  EXPECT_EQ(run("x=3"), "1 3 True\n");
  EXPECT_EQ(run("yes=False"), "1 2.5 False\n");
  EXPECT_THAT(
      run("n=2.5"),
      HasSubstr(
          "--input n: `2.5` is no int32, and no name of a .npy, .npz, .safetensors, .csv, .params, .txt, "));
  EXPECT_THAT(run("yes=1"), HasSubstr("--input yes: `1` is no bool"));
  EXPECT_THAT(run("n=99999999999"), HasSubstr("`99999999999` is no int32"));
  EXPECT_THAT(run("n="), HasSubstr("`` is no int32"));
  EXPECT_THAT(run("v=1.0"), HasSubstr("Cannot read '1.0'"));
  EXPECT_THAT(run("n=none.npy"), HasSubstr("there is no such file"));
  // Before anything runs.
  EXPECT_EQ(run("yse=False"),
            "quern: --input yse: the file has no top-level variable `%yse`, and no `@main` with such a "
            "parameter; did you mean `yes`?\n");
}

}  // namespace
}  // namespace quern
