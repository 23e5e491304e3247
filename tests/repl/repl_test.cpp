// The REPL, driven as its users drive it: the real binary, on a terminal and over a pipe.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/repl/terminal.h"

namespace quern {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const char* const kFolder = QUERN_SOURCE_DIR "/tests/repl";

ProgramOutcome pipe_through(std::string_view input) { return run_program({QUERN_BINARY}, kFolder, input); }

TEST(ReplOverPipe, WritesValuesOnly) {
  ProgramOutcome outcome =
      pipe_through("let %x = [1.0, 2.0];\n%x * 2.0; %x\n\ndef @f(%a: int32) { %a + 1 }\n@f(1)\n");
  EXPECT_EQ(outcome.out, "Tensor[(2,), float32] [2, 4]\nTensor[(2,), float32] [1, 2]\nint32 2\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ReplOverPipe, GoesOnAfterAnErrorAndReportsItInTheEnd) {
  ProgramOutcome outcome = pipe_through("1 + 2\n%missing\n3 + 4\n");
  EXPECT_EQ(outcome.out, "int32 3\nint32 7\n");
  EXPECT_THAT(outcome.err, HasSubstr("--> <input 2>:1:1"));
  EXPECT_THAT(outcome.err, HasSubstr("1 | %missing"));
  EXPECT_EQ(outcome.code, 1);
}

TEST(ReplOverPipe, TakesTheLastLineWithoutItsEnd) {
  ProgramOutcome outcome = pipe_through("1 + 2");
  EXPECT_EQ(outcome.out, "int32 3\n");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ReplOverPipe, ReportsWhatIsOpenAtTheEnd) {
  ProgramOutcome outcome = pipe_through("(1 +\n2\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("error[Q01"));
  EXPECT_EQ(outcome.code, 1);
}

TEST(ReplOverPipe, TakesLinesOfWindows) {
  ProgramOutcome outcome = pipe_through("let %x = (1 +\r\n  2)\r\n%x\r\n");
  EXPECT_EQ(outcome.out, "int32 3\n");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ReplOverPipe, UnknownCommandFails) {
  ProgramOutcome outcome = pipe_through(":tpye 1\n");
  EXPECT_THAT(outcome.err, HasSubstr("did you mean `:type`?"));
  EXPECT_EQ(outcome.code, 1);
}

TEST(ReplOverPipe, QuitEndsIt) {
  ProgramOutcome outcome = pipe_through("1\n:quit\n2\n");
  EXPECT_EQ(outcome.out, "int32 1\n");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ReplOverPipe, EmptyInputIsFine) {
  ProgramOutcome outcome = pipe_through("");
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ReplOverPipe, ManyStatements) {
  constexpr int kCount = 300;
  std::string input = "let %x = 0;\n";
  for (int i = 0; i < kCount; ++i) input += "let %x = %x + 1;\n";
  ProgramOutcome outcome = pipe_through(input + "%x\n");
  EXPECT_EQ(outcome.out, "int32 300\n");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ReplOnTerminal, GreetsWithItsVersion) {
  Terminal terminal(QUERN_BINARY, kFolder);
  std::string shown = terminal.read_to_prompt();
  EXPECT_THAT(shown, testing::StartsWith("Quern "));
  EXPECT_THAT(shown, HasSubstr(":help"));
}

TEST(ReplOnTerminal, CtrlDEndsIt) {
  Terminal terminal(QUERN_BINARY, kFolder);
  terminal.read_to_prompt();
  EXPECT_THAT(terminal.enter("%missing"), HasSubstr("Q0201"));
  terminal.type(std::string(1, Terminal::kCtrlD));
  EXPECT_EQ(terminal.read_to_prompt(), "\n");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST(ReplOnTerminal, CtrlCAtThePromptDropsTheInput) {
  Terminal terminal(QUERN_BINARY, kFolder);
  terminal.read_to_prompt();
  EXPECT_EQ(terminal.enter("let %x = (1 +"), "... ");
  terminal.type("2 + 3");
  terminal.type(std::string(1, Terminal::kCtrlC));
  EXPECT_EQ(terminal.read_to_prompt(), "\n>>> ");
  EXPECT_EQ(terminal.enter("4"), "int32 4\n>>> ");
  EXPECT_THAT(terminal.enter("%x"), HasSubstr("unknown variable `%x`"));
}

TEST(ReplOnTerminal, CtrlCStopsAnEvaluationAndTheSessionGoesOn) {
  Terminal terminal(QUERN_BINARY, kFolder);
  terminal.read_to_prompt();
  terminal.enter("def @forever(%n: int32) -> int32 { @forever(%n + 1) }");
  terminal.enter("let %kept = 5");
  terminal.enter("print(1)");  // what is compiled at first has been
  terminal.type("let %x = 1; @forever(0)\n");
  EXPECT_EQ(terminal.read_to_prompt(std::chrono::milliseconds(500)), "");
  terminal.type(std::string(1, Terminal::kCtrlC));
  std::string shown = terminal.read_to_prompt();
  EXPECT_THAT(shown, HasSubstr("interrupted"));
  EXPECT_TRUE(shown.ends_with(">>> ")) << shown;
  EXPECT_EQ(terminal.enter("%kept"), "int32 5\n>>> ");
  EXPECT_THAT(terminal.enter("%x"), HasSubstr("unknown variable `%x`"));
}

class ReplWithFiles : public testing::Test {
 protected:
  ReplWithFiles() { fs::create_directories(folder_); }
  ~ReplWithFiles() override { fs::remove_all(folder_); }
  void write(const std::string& text) { std::ofstream(folder_ / "mm.relay") << text; }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("quern_repl_" + std::to_string(getpid()));
};

TEST_F(ReplWithFiles, AnImportThatIsTypedAgainReadsTheFileAgain) {
  write("def @f() -> int32 { 1 }\n");
  Terminal terminal(QUERN_BINARY, folder_.string());
  terminal.read_to_prompt();
  EXPECT_EQ(terminal.enter("import \"mm.relay\" as mm"), ">>> ");
  EXPECT_EQ(terminal.enter("@mm.f()"), "int32 1\n>>> ");
  write("def @f() -> int32 { 2 }\n");
  EXPECT_EQ(terminal.enter("import \"mm.relay\" as mm"), ">>> ");
  EXPECT_EQ(terminal.enter("@mm.f()"), "int32 2\n>>> ");
  write("def @f() -> int32 { True }\n");
  EXPECT_THAT(terminal.enter("import \"mm.relay\" as mm"), HasSubstr("error[Q0607]"));
  EXPECT_THAT(terminal.enter("@mm.f()"), HasSubstr("`@f` has errors"));
}

TEST_F(ReplWithFiles, AFileThatChangesIsNoticedAndReadAgainOnDemand) {
  write("def @f() -> int32 { 1 }\n");
  Terminal terminal(QUERN_BINARY, folder_.string());
  terminal.read_to_prompt();
  terminal.enter("import \"mm.relay\" as mm");
  terminal.enter("def @g() -> int32 { @mm.f() + 10 }");
  write("def @f() -> int32 { 2 }\n");
  EXPECT_EQ(terminal.enter("@g()"),
            "`mm.relay` has changed on the disk; `:reload` reads it again\nint32 11\n>>> ");
  EXPECT_EQ(terminal.enter("@g()"), "int32 11\n>>> ");
  EXPECT_EQ(terminal.enter(":reload"), "`mm.relay` is read again\n>>> ");
  EXPECT_EQ(terminal.enter("@g()"), "int32 12\n>>> ");
}

TEST_F(ReplWithFiles, ALaterImportOfANameReplacesTheEarlier) {
  write("def @f() -> int32 { 1 }\n");
  std::ofstream(folder_ / "other.relay") << "def @f() -> int32 { 3 }\n";
  Terminal terminal(QUERN_BINARY, folder_.string());
  terminal.read_to_prompt();
  terminal.enter("import \"mm.relay\" as mm");
  terminal.enter("import \"other.relay\" as mm");
  EXPECT_EQ(terminal.enter("@mm.f()"), "int32 3\n>>> ");
}

TEST(ReplOverPipe, WhatStillWaitsAtTheEndIsWrong) {
  ProgramOutcome outcome = pipe_through("def @f(%x: int32) { @g(%x) }\n1\n");
  EXPECT_EQ(outcome.out, "int32 1\n");
  EXPECT_THAT(outcome.err, HasSubstr("error[Q0208]: unknown function `@g`"));
  EXPECT_EQ(outcome.code, 1);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto kMostToStop = std::chrono::milliseconds(1000);
#else
constexpr auto kMostToStop = std::chrono::milliseconds(100);
#endif

/// How long the prompt takes to come back after a Ctrl-C while what was typed runs: the least of three. Where others keep
/// the processors busy, it is what the program itself computes until then.
std::chrono::milliseconds time_to_stop(Terminal& terminal, const std::string& typed) {
  std::chrono::nanoseconds best = std::chrono::nanoseconds::max();
  for (int round = 0; round < 3 && best >= kMostToStop; ++round) {
    terminal.type(typed + "\n");
    const std::string shown = terminal.read_to_prompt(std::chrono::milliseconds(700));
    EXPECT_EQ(shown.find(">>> "), std::string::npos) << typed << " is no long work";
    const auto start = std::chrono::steady_clock::now();
    const auto computed = terminal.processor_time();
    terminal.type(std::string(1, Terminal::kCtrlC));
    EXPECT_THAT(terminal.read_to_prompt(), HasSubstr("interrupted")) << typed;
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
    best = std::min({best, taken, terminal.processor_time() - computed});
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(best);
}

struct LongWork {
  std::string name, command;
  std::vector<std::string> arguments = {};
};

class CtrlC : public testing::TestWithParam<LongWork> {};

TEST_P(CtrlC, StopsWithinATenthOfASecond) {
  Terminal terminal(QUERN_BINARY, kFolder, Terminal::Colour::No, GetParam().arguments);
  terminal.read_to_prompt();
  terminal.enter("let %kept = [1, 2]; let %wide = ones((8192, 8192))");
  EXPECT_LT(time_to_stop(terminal, GetParam().command), kMostToStop);
  EXPECT_EQ(terminal.enter("%kept"), "Tensor[(2,), int32] [1, 2]\n>>> ");
}

INSTANTIATE_TEST_SUITE_P(
    Repl, CtrlC,
    testing::Values(
        LongWork{"OneReduction", "[i < 1] => sum[k < 100000000000] exp(cast<float32>(k))"},
        LongWork{"Elements", "sum([i < 2000, j < 2000] => sum[k < 100000] exp(cast<float32>(i * k - j)))"},
        LongWork{"Product", "nn.dense(nn.dense(nn.dense(%wide, %wide), %wide), %wide)"},
        LongWork{"Scan", "[i < 30000] => scan[k <= i] + sum[j < 1000000] cast<float32>(k - j)"},
        LongWork{"Scatter", "[i < 4] => scatter[m < 100000000000] 0.0 at (m % 4) += exp(cast<float32>(m))"},
        LongWork{"Sort", "sort(%wide)"}, LongWork{"Check", "stack((%kept for k < 500))"},
        LongWork{"Curve", ":plot reshape(%wide, newshape=[-1])"},
        LongWork{"CurveInFile", ":plot reshape(%wide, newshape=[-1]) > /nonexistent/never.svg"},
        LongWork{"Histogram", ":hist %wide"}, LongWork{"Summary", ":summary (%wide, %wide, %wide)"},
        LongWork{"Image", ":image %wide"}, LongWork{"TableInFile", ":table %wide > /nonexistent/never.csv"},
        LongWork{"Interpreted",
                 "[i < 1] => sum[k < 100000000000] exp(cast<float32>(k))",
                 {"repl", "--interpret"}}),
    [](const auto& info) { return info.param.name; });

TEST_F(ReplWithFiles, CtrlCStopsTheReadingOfALargeTensor) {
  // Three GiB of bools that take no space on the disk. They are not mapped, but read, for longer than the test
  // waits.
  std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (3221225472,), }";
  header.resize(117, ' ');
  std::ofstream(folder_ / "big.npy", std::ios::binary)
      << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
  fs::resize_file(folder_ / "big.npy", 128 + (uintmax_t{3} << 30));
  Terminal terminal(QUERN_BINARY, folder_.string());
  terminal.read_to_prompt();
  terminal.enter("let %kept = 7");
  EXPECT_LT(time_to_stop(terminal, "let %big = load(\"big.npy\")"), kMostToStop);
  EXPECT_EQ(terminal.enter("%kept"), "int32 7\n>>> ");
}

TEST(CommandOnTerminal, PointsToTheExplanation) {
  Terminal terminal(QUERN_BINARY, QUERN_SOURCE_DIR "/tests/golden/diagnostics", Terminal::Colour::No,
                    {"check", "q0103_unterminated_comment.relay"});
  EXPECT_THAT(terminal.read_to_prompt(), testing::EndsWith("\n\n`quern explain Q0103` says more\n"));
  EXPECT_EQ(terminal.wait(), 1);
}

TEST(CommandOnTerminal, PrintsTheHeadingOfAnExplanationBold) {
  Terminal terminal(QUERN_BINARY, kFolder, Terminal::Colour::Yes, {"explain", "Q0103"});
  EXPECT_THAT(terminal.read_to_prompt(),
              testing::StartsWith("\033[1mQ0103: unterminated string or comment\033[0m\n"));
}

// Into a pipe they are whole: tests/golden/types/whole_values.relay.
TEST(CommandOnTerminal, ShortensLongValues) {
  Terminal terminal(QUERN_BINARY, QUERN_SOURCE_DIR "/tests/golden/types", Terminal::Colour::No,
                    {"run", "whole_values.relay"});
  EXPECT_THAT(terminal.read_to_prompt(), HasSubstr("[ 0,  1,  2, …,  42,  43,  44],"));
}

TEST(ReplOnTerminal, ColoursDiagnostics) {
  Terminal terminal(QUERN_BINARY, kFolder);
  terminal.read_to_prompt();
  EXPECT_THAT(terminal.enter("%missing"), testing::Not(HasSubstr("\033[")));
  terminal.enter(":set colour on");
  EXPECT_THAT(terminal.enter("%missing"), HasSubstr("\033["));
}

}  // namespace
}  // namespace quern
