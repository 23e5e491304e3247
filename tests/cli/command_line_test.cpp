// The command line itself: what is no command, no file and no code, and how it is told.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "frontend/text/diagnostics.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ProgramOutcome quern_with(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), QUERN_BINARY);
  return run_program(arguments, QUERN_SOURCE_DIR);
}

TEST(CommandLine, NamesTheCommandThatWasLikelyMeant) {
  ProgramOutcome outcome = quern_with({"chek", "examples/digits.relay"});
  EXPECT_EQ(outcome.err, "quern: there is no command `chek`; did you mean `check`?\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.code, 2);
}

TEST(CommandLine, NamesItAfterOptionsToo) {
  ProgramOutcome outcome = quern_with({"--stdlib", "stdlib", "rnu", "examples/digits.relay"});
  EXPECT_THAT(outcome.err, HasSubstr("no command `rnu`; did you mean `run`?"));
  EXPECT_EQ(outcome.code, 2);
}

TEST(CommandLine, EvaluatesNothingWithoutAnOrder) {
  const ProgramOutcome outcome = quern_with({"evaluate"});
  EXPECT_EQ(outcome.err,
            "quern: `quern evaluate` reads the order of a language server, and there is none; `quern run "
            "FILE` runs a "
            "file\n");
  EXPECT_EQ(outcome.code, 2);
}

TEST(CommandLine, LeavesOutWhatOnlyMakesProgramsFaster) {
  const std::string text = "def @main(%x: Tensor[(4,), float32]) { let %a = %x + 1f; exp(%a * 2f) }";
  const TemporaryFolder folder;
  const std::string file = (folder / "main.relay").string();
  std::ofstream(file) << text;
  const auto kernels = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"ir", "--stage", "lift_kernels"});
    options.push_back(file);
    const std::string shown = quern_with(options).out;
    size_t count = 0;
    for (size_t at = shown.find("/* kernel */"); at != std::string::npos;
         at = shown.find("/* kernel */", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(kernels({}), 1);
  EXPECT_EQ(kernels({"--without", "order_axes,fuse"}), 3);
  // A function that is called goes without them too, and each call of its kernel makes its form.
  std::ofstream(file)
      << "def @steps(%n: int32, %x: Tensor[(48, 64), float32], %w: Tensor[(64, 64), float32]) -> "
         "Tensor[(48, 64), float32] {\n"
         "  if (%n == 0) { %x } else { @steps(%n - 1, nn.relu(nn.dense(%x, %w) * 0.01f), %w) }\n}\n"
         "let %w = ones((64, 64));\nsum(exp(@steps(3, ones((48, 64)), %w)) * 2f)\n";
  const auto profile = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "--profile"});
    options.push_back(file);
    return quern_with(options).err;
  };
  EXPECT_THAT(profile({}),
              AllOf(ContainsRegex("dense_multiply_relu_[0-9a-f]+ +3 "), ContainsRegex("_pack0 +1 ")));
  EXPECT_THAT(profile({"--without", "fuse"}),
              AllOf(ContainsRegex("dense_[0-9a-f]+ +3 "), ContainsRegex("\nexp_[0-9a-f]+ +1 ")));
  EXPECT_THAT(profile({"--without", "prepacked"}), ContainsRegex("_pack0 +3 "));
  const ProgramOutcome outcome = quern_with({"run", "--without", "fus", file});
  EXPECT_THAT(outcome.err, HasSubstr("--without: fus not in {"));
  EXPECT_EQ(outcome.code, 2);
}

// Also for a machine that is not this one.
TEST(CommandLine, ShowsSchedulesWithTheLibrarysIntrinsics) {
  const TemporaryFolder folder;
  const std::string file = (folder / "main.relay").string();
  std::ofstream(file) << "def @main(%x: Tensor[(16, 64), uint8], %w: Tensor[(32, 64), int8]) {\n"
                         "  nn.dense(%x, %w, out_dtype=\"int32\")\n}\n";
  EXPECT_THAT(quern_with({"ir", "--stage", "schedule", "--features", "+avxvnni", file}).out,
              HasSubstr("tensorize(ji, ri; x86.dot4_"));
}

// A module with constants too large for its text, written, read back, and run.
TEST(CommandLine, IrWritesAModuleThatReadsBack) {
  const TemporaryFolder folder;
  std::string values;
  for (int i = 0; i < 50; ++i) values += (i ? ", " : "") + std::to_string(i) + "f";
  std::string first = (folder / "first.relay").string(), second = (folder / "second.relay").string();
  std::ofstream(first) << "def @f(%x: Tensor[(50,), float32]) { %x * [" << values
                       << "] }\nsum(@f(ones((50,))))\n";
  ProgramOutcome written = quern_with({"ir", first, "--output", second});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "second.safetensors"));
  ProgramOutcome ran = quern_with({"run", second});
  EXPECT_EQ(ran.out, "float32 1225\n") << ran.err;
  std::string third = (folder / "third.relay").string();
  EXPECT_EQ(quern_with({"ir", second, "--output", third}).code, 0);
  auto text = [](const std::string& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(text(second), text(third));
  EXPECT_THAT(text(second), HasSubstr("meta[relay.Constant][0]"));
  EXPECT_EQ(quern_with({"ir", first, "--stage", "fuse", "--output", third}).code, 2);
}

// The file beside the module has no vectors: the entries' names say which of its tensors are some.
TEST(CommandLine, IrWritesConstantsOfVectors) {
  const TemporaryFolder folder;
  std::string first = (folder / "first.relay").string(), second = (folder / "second.relay").string();
  std::ofstream(first) << "let %x: Tensor[(2,), int8x4] = [1, 2]; let %y: float32x2 = 0.5;\n(%x * 5, %y);\n";
  ProgramOutcome ran = quern_with({"run", first});
  EXPECT_EQ(ran.out, "(Tensor[(2,), int8x4] [<5, 5, 5, 5>, <10, 10, 10, 10>], float32x2 <0.5, 0.5>)\n");
  EXPECT_EQ(quern_with({"ir", first, "--output", second}).code, 0);
  EXPECT_EQ(quern_with({"run", second}).out, ran.out);
}

// What is saved as lanes is given to an input of vectors, and a tensor of other lanes is not.
TEST(CommandLine, VectorsComeFromFilesOfTheirLanes) {
  const TemporaryFolder folder;
  std::string program = (folder / "program.relay").string(), other = (folder / "other.relay").string(),
              lanes = (folder / "lanes.npy").string(), saved = (folder / "saved.npy").string();
  std::ofstream(other) << "save(\"lanes.npy\", cast([[1, 2, 3], [4, 5, 6]], dtype=\"int16\"));\n";
  EXPECT_EQ(quern_with({"run", other}).code, 0);
  std::ofstream(program) << "let %x: Tensor[(2,), int16x3] = [1, 1]; let %y = %x + %x;\n";
  ProgramOutcome ran = quern_with({"run", program, "--input", "x=" + lanes, "--output", saved});
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::ofstream(other) << "let %x: Tensor[(2,), int16x3] = load(\"saved.npy\"); %x; load(\"saved.npy\");\n";
  EXPECT_EQ(
      quern_with({"run", other}).out,
      "Tensor[(2,), int16x3] [<2, 4, 6>, <8, 10, 12>]\nTensor[(2, 3), int16] [[2, 4, 6], [8, 10, 12]]\n");
  std::ofstream(other) << "let %x: Tensor[(2,), int16x2] = load(\"lanes.npy\"); %x\n";
  EXPECT_THAT(quern_with({"run", other}).err,
              HasSubstr("the tensor in `lanes.npy` is Tensor[(2, 3), int16], but the value is declared as "
                        "Tensor[(2,), int16x2]: its last axis has to be the 2 lanes"));
}

/// A program in a file of its own, run with further arguments.
ProgramOutcome run_text(const std::string& text, std::vector<std::string> arguments) {
  // Tests run side by side, each in a process of its own.
  const std::string file = fmt::format("{}quern_command_line_{}.relay", testing::TempDir(), getpid());
  std::ofstream(file) << text;
  arguments.insert(arguments.begin(), {"run", file});
  ProgramOutcome outcome = quern_with(arguments);
  std::filesystem::remove(file);
  return outcome;
}

TEST(CommandLine, ListsTheInputsThatAnEntryLacks) {
  const std::string text = "def @main(%x: Tensor[(2,), float32], %n: int32, %y: float32) { %x * %y }\n";
  ProgramOutcome outcome = run_text(text, {"--input", "x=missing.npy"});
  EXPECT_THAT(outcome.err, HasSubstr("error[Q0503]: `@main` lacks 2 inputs of 3"));
  EXPECT_THAT(outcome.err, HasSubstr("note: `%n`: int32\nnote: `%y`: float32\n"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(run_text(text + "1 + 2\n", {}).out, "int32 3\n");
  outcome = run_text("def @main(%x) { %x + 1 }\n", {"--input", "x=missing.npy"});
  EXPECT_THAT(outcome.err, HasSubstr("annotate the types of its parameters"));
  EXPECT_EQ(outcome.code, 1);
}

TEST(CommandLine, DocHasFunctionsAndTypesWithTheirComments) {
  const TemporaryFolder folder;
  const std::string file = (folder / "f.relay").string();
  std::ofstream(file) << "// A file of\n// two lines.\n//\n// And more.\n/// A pair.\ntype Pair { Pair(a: "
                         "int32, b: int32) }\n"
                         "/// Adds.\ndef @add(%p: Pair) -> int32 { %p.a + %p.b }\ndef @hidden() { 1 }\n";
  const std::string page = quern_with({"doc", file}).out;
  EXPECT_THAT(page, StartsWith("## f.relay\n\nA file of two lines.\n\n### Pair\n\n```quern\ntype Pair { "
                               "Pair(a: int32, b: int32) }\n"
                               "```\n\nA pair.\n"));
  EXPECT_THAT(page, HasSubstr("### @add\n\n```quern\ndef @add(%p: Pair) -> int32\n```\n\nAdds.\n"));
  EXPECT_THAT(page, Not(HasSubstr("hidden")));
  std::ofstream(file) << "let %x = 1;\n";
  EXPECT_THAT(quern_with({"doc", file}).err, HasSubstr("no `///` above a function or a type"));
}

TEST(CommandLine, OutputOfWhatNoFileHoldsIsRefused) {
  const std::string output = fmt::format("{}quern_shape_{}.npz", testing::TempDir(), getpid());
  ProgramOutcome outcome =
      run_text("type Shape { Circle(float32), Square(float32) }\nSquare(1.5)\n", {"--output", output});
  EXPECT_EQ(outcome.err,
            "quern: a value of type Shape cannot be saved: `Square` is one of several constructors\n");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(CommandLine, AnEntryWithoutInputsIsToldThem) {
  ProgramOutcome outcome = run_text("def @main(%x: int32) { %x }\n", {});
  EXPECT_THAT(outcome.err, HasSubstr("error[Q0503]: `@main` lacks one input of 1"));
  EXPECT_THAT(outcome.err, HasSubstr("note: `%x`: int32\n"));
  EXPECT_EQ(outcome.code, 1);
}

TEST(CommandLine, RunsTheEntryThatIsAskedFor) {
  const std::string text = "def @main() { 1 }\ndef @other() { 2 }\n";
  EXPECT_EQ(run_text(text, {}).out, "int32 1\n");
  EXPECT_EQ(run_text(text, {"--entry", "@other"}).out, "int32 2\n");
  ProgramOutcome outcome = run_text(text, {"--entry", "third"});
  EXPECT_THAT(outcome.err, HasSubstr("has no definition `@third`"));
  EXPECT_EQ(outcome.code, 1);
}

TEST(CommandLine, TakesAProgramWithoutACommand) {
  EXPECT_EQ(quern_with({"-c", "1 + 2"}).out, "int32 3\n");
  EXPECT_EQ(quern_with({"run", "-c", "1 + 2", "--format", "json"}).out,
            "{\"type\": \"int32\", \"value\": 3}\n");
  EXPECT_EQ(run_program({QUERN_BINARY, "-"}, QUERN_SOURCE_DIR, "1 + 3").out, "int32 4\n");
  EXPECT_EQ(run_program({QUERN_BINARY, "run", "-"}, QUERN_SOURCE_DIR, "print(1)").out, "1\n");
  EXPECT_EQ(quern_with({"examples/schedules.relay"}).out,
            quern_with({"run", "examples/schedules.relay"}).out);
  EXPECT_EQ(quern_with({"--stdlib", "stdlib", "-c", "2"}).out, "int32 2\n");
  EXPECT_THAT(quern_with({"missing.relay"}).err, StartsWith("error[Q0504]: `missing.relay` cannot be read"));
  EXPECT_EQ(quern_with({"run"}).code, 2);
  EXPECT_EQ(quern_with({"run", "-c", "1", "examples/schedules.relay"}).code, 2);
  EXPECT_THAT(quern_with({"-c", "%x"}).err, HasSubstr("--> <command>:1:1"));
}

TEST(CommandLine, SkipsTheLineForTheShell) {
  const std::string start = "#!/usr/bin/env quern\n";
  EXPECT_EQ(run_text(start + "1 + 2\n", {}).out, "int32 3\n");
  EXPECT_EQ(run_text("#!/usr/bin/env quern", {}).out, "");
  EXPECT_EQ(run_text(start + "// of TVM\n#[version = \"0.0.5\"]\nfree_var %a/b: float32;\n1f\n", {}).code, 1);
  EXPECT_THAT(run_text(start + "%x\n", {}).err, HasSubstr("relay:2:1"));
  EXPECT_THAT(run_text("1;\n#!/usr/bin/env quern\n2", {}).err, HasSubstr("error[Q01"));
  const ProgramOutcome formatted =
      run_program({QUERN_BINARY, "fmt", "-"}, QUERN_SOURCE_DIR, start + "let   %x=1;\n");
  EXPECT_EQ(formatted.out, start + "let %x = 1;\n") << formatted.err;
}

TEST(CommandLine, HelpForAFileListsWhatItTakes) {
  EXPECT_THAT(
      run_text("def @main(%x: Tensor[(2, ?), float32], %long: int32) { %long }\n", {"--help"}).out,
      HasSubstr("\nparameters of @main: each from --input NAME=FILE, by name from --params FILE, or random "
                "with --random SEED\n"
                "  x     Tensor[(2, ?), float32]\n"
                "  long  int32\n"));
  EXPECT_THAT(run_text("let %x = [1.0]; def @main() { 1 }\n", {"--help"}).out,
              HasSubstr("\n@main takes nothing\nvariables that --input NAME=FILE gives other values\n"
                        "  x  Tensor[(1,), float32]\n"));
  EXPECT_THAT(run_text("1\n", {"--help"}).out, HasSubstr("\nthe program takes nothing\n"));
  EXPECT_EQ(run_text("%y\n", {"--help"}).code, 1);
  EXPECT_THAT(quern_with({"run", "--help"}).out, HasSubstr("Usage: quern run [OPTIONS] [FILE]"));
}

/// A file of tensors that a program saves.
std::string saved(const TemporaryFolder& folder, const std::string& name, const std::string& program) {
  std::string file = (folder / name).string();
  EXPECT_EQ(quern_with({"-c", program + "save(\"" + file + "\", %s)"}).code, 0);
  return file;
}

const std::string kTypes =
    "type Lin { Lin(weight: Tensor[(2, 3), float32], bias: Tensor[(2,), float32]) }\n"
    "type Bad { Bad(weight: Tensor[(2, 4), float32], bais: Tensor[(2,), float32]) }\n"
    "type All { All(net: Lin, n: int32) }\n";

TEST(CommandLine, ParamsGivesParametersAndRecordsByName) {
  const TemporaryFolder folder;
  const std::string lin = "let %lin = Lin(ones((2, 3)), [1.0, 2.0]); ";
  const std::string whole = saved(folder, "whole.safetensors", kTypes + lin + "let %s = All(%lin, 3); "),
                    net = saved(folder, "net.safetensors", kTypes + lin + "let %s = %lin; "),
                    three = saved(folder, "three.npy", "let %s = 3; ");
  const std::string main = kTypes + "def @main(%net: Lin, %n: int32) { (%net.bias, %n) }\n";
  const std::string result = "(Tensor[(2,), float32] [1, 2], int32 3)\n";
  EXPECT_EQ(run_text(main, {"--params", whole}).out, result);
  EXPECT_EQ(run_text(main, {"--params", net, "--input", "n=" + three}).out, result);
  // What `%params` is called takes it as before.
  EXPECT_EQ(run_text(kTypes + "def @main(%params: Lin) { %params.bias }\n", {"--params", net}).out,
            "Tensor[(2,), float32] [1, 2]\n");
  EXPECT_EQ(
      run_text(kTypes + "let %params = Lin(zeros((2, 3)), zeros((2,))); %params.bias\n", {"--params", net})
          .out,
      "Tensor[(2,), float32] [1, 2]\n");
  EXPECT_EQ(
      run_text("1\n", {"--params", net}).err,
      "quern: --params: the file has no top-level variable `%params`, and no `@main` with parameters\n");
}

TEST(CommandLine, ParamsTellsAllThatDoesNotFitAtOnce) {
  const TemporaryFolder folder;
  const std::string bad =
      saved(folder, "bad.safetensors", kTypes + "let %s = Bad(ones((2, 4)), [1.0, 2.0]); ");
  ProgramOutcome outcome =
      run_text(kTypes + "def @main(%net: Lin, %n: int32) { (%net.bias, %n) }\n", {"--params", bad});
  EXPECT_THAT(outcome.err,
              StartsWith("error[Q0503]: `@main` lacks one input of 2: give each with `--input NAME=FILE`, "
                         "all by name with `--params FILE`, or random ones with `--random SEED`\n"));
  EXPECT_THAT(outcome.err,
              HasSubstr("\nnote: `%n`: int32\n"
                        "note: --params, `%net`: the tensor `weight` in `bad.safetensors` is Tensor[(2, "
                        "4), float32], but the field `weight` of `Lin` is declared as Tensor[(2, 3), "
                        "float32]: dimension 1 is 4 and has to be 3\n"
                        "note: --params, `%net`: `bad.safetensors` has no tensor `bias`: Tensor[(2,), "
                        "float32]\n"
                        "note: --params: `bad.safetensors` has `bais`, which nothing takes; did you mean "
                        "`bias`?\n"));
  EXPECT_EQ(outcome.code, 1);
  outcome = run_text(kTypes + "def @main(%net: Lin) { %net.bias }\n", {"--params", bad});
  EXPECT_THAT(outcome.err, StartsWith("error[Q0503]: 3 mistakes in the inputs of `@main`\n"));
}

TEST(CommandLine, RandomFillsWhatNothingElseGives) {
  const std::string text = kTypes + "def @main(%net: Lin, %n: int32, %b: bool) { (%net.bias, %n, %b) }\n";
  const ProgramOutcome first = run_text(text, {"--random", "7"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(run_text(text, {"--random", "7"}).out, first.out);
  EXPECT_NE(run_text(text, {"--random", "8"}).out, first.out);
  const ProgramOutcome open = run_text("def @main(%x: Tensor[(?,), float32]) { %x }\n", {"--random", "7"});
  EXPECT_THAT(open.err, StartsWith("error[Q0503]: --random: x: the extent `"));
  EXPECT_EQ(open.code, 1);
}

TEST(CommandLine, RandomDrawsWholeParametersBesideThoseOfAFile) {
  const TemporaryFolder folder;
  const std::string net =
                        saved(folder, "net.safetensors", kTypes + "let %s = Lin(ones((2, 3)), [1.0, 2.0]); "),
                    part = saved(folder, "part.safetensors",
                                 "type Part { Part(weight: Tensor[(2, 3), float32]) }\n"
                                 "let %s = Part(ones((2, 3))); ");
  const std::string main = kTypes + "def @main(%net: Lin, %x: float32) { (%net.bias, 0f < %x) }\n";
  EXPECT_THAT(run_text(main, {"--params", net, "--random", "7"}).out,
              StartsWith("(Tensor[(2,), float32] [1, 2], bool "));
  const ProgramOutcome refused = run_text(main, {"--params", part, "--random", "7"});
  EXPECT_THAT(refused.err,
              StartsWith("error[Q0503]: --params, `%net`: `part.safetensors` has no tensor `bias`: "
                         "Tensor[(2,), float32]; `--random` draws no part of a parameter, only whole "
                         "ones\n"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(run_text(main, {"--params", part}).err, Not(HasSubstr("--random` draws")));
}

TEST(CommandLine, RunTellsWarningsBeforeItRuns) {
  const ProgramOutcome outcome = run_text("1 / 0\n", {});
  EXPECT_THAT(outcome.err, StartsWith("warning[Q0350]: `/`: an integer divided by 0 is 0\n"));
  EXPECT_EQ(outcome.out, "int32 0\n");
  EXPECT_EQ(outcome.code, 0);
  const ProgramOutcome json = run_text("1 / 0\n", {"--format", "json"});
  EXPECT_THAT(json.err, HasSubstr("\"Q0350\""));
  EXPECT_EQ(json.out, "{\"type\": \"int32\", \"value\": 0}\n");
  // A note is about speed.
  const std::string gathers =
      "def @f(%x: Tensor[(8,), float32], %at: Tensor[(3,), int32]) -> float32 { sum(take(%x, %at)) }\n"
      "grad(@f)(ones((8,)), [1, 2, 3]).0[1]\n";
  EXPECT_EQ(run_text(gathers, {}).err, "");
}

TEST(CommandLine, PrintsJsonOnEachLine) {
  EXPECT_EQ(run_text("print(\"a \\\"b\\\"\", [1, 2]); 1.5\n", {"--format", "json"}).out,
            "{\"print\": \"a \\\"b\\\" [1, 2]\"}\n"
            "{\"type\": \"float32\", \"value\": 1.5}\n");
}

TEST(CommandLine, ListsTheStagesForOneThatThereIsNot) {
  ProgramOutcome outcome = quern_with({"ir", "examples/fit_line.relay", "--stage", "lops"});
  EXPECT_THAT(outcome.err, HasSubstr("there is no stage `lops`; the stages are ast, typed, effects, "));
  EXPECT_EQ(outcome.code, 1);
}

TEST(CommandLine, SaysWhereTheCommandsAreListed) {
  ProgramOutcome outcome = quern_with({"frobnicate"});
  EXPECT_EQ(outcome.err, "quern: there is no command `frobnicate`; `quern --help` lists them\n");
  EXPECT_EQ(outcome.code, 2);
}

TEST(CommandLine, LeavesTheMisuseOfACommandToIt) {
  ProgramOutcome outcome = quern_with({"check", "--jsn", "examples/digits.relay"});
  EXPECT_THAT(outcome.err, HasSubstr("--jsn"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("no command")));
  EXPECT_EQ(outcome.code, 2);
}

TEST(CommandLine, TellsAnUnreadableFileTheSameWithEveryCommand) {
  for (const char* command : {"check", "run", "test", "ir", "fmt"}) {
    ProgramOutcome outcome = quern_with({command, "no_such_file.relay"});
    EXPECT_EQ(outcome.err,
              "error[Q0504]: `no_such_file.relay` cannot be read: No such file or directory\n"
              "--> no_such_file.relay\n\n")
        << command;
    EXPECT_EQ(outcome.code, 1) << command;
    const std::string folder = "tests/golden/diagnostics/programs/data";  // without a text
    EXPECT_THAT(quern_with({command, folder}).err, StartsWith("error[Q0504]: `" + folder + "` is a folder\n"))
        << command;
  }
  for (const char* command : {"run", "ir"})
    EXPECT_THAT(quern_with({command, "examples"}).err, StartsWith("error[Q0504]: `examples` is a folder\n"));
}

TEST(CommandLine, TakesTheFilesOfFolders) {
  TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    const std::filesystem::path path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  };
  write("b.relay", "let  %x = 1;\n");
  write("a/c.relay", "test \"one\" { assert_equal(1 + 1, 2) }\n");
  write("a/d.transcript", ">>> 1 + 1\nint32 2\n");
  write("a/notes.txt", "let  %x");
  write(".hidden/e.relay", "let  %x = ;\n");
  const std::string path = folder.path().string();
  ProgramOutcome outcome = quern_with({"fmt", "--check", path});
  EXPECT_EQ(outcome.out, path + "/b.relay\n");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(quern_with({"check", path}).code, 0);
  outcome = quern_with({"test", path});
  EXPECT_THAT(outcome.out, HasSubstr("2 passed, 0 failed"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(CommandLine, AnEmptyFileIsAProgram) {
  const char* empty = "tests/golden/diagnostics/programs/data/empty.txt";
  for (const char* command : {"check", "run", "ir", "fmt"}) {
    ProgramOutcome outcome = quern_with({command, empty});
    EXPECT_EQ(outcome.err, "") << command;
    EXPECT_EQ(outcome.out, "") << command;
    EXPECT_EQ(outcome.code, 0) << command;
  }
}

TEST(ExplainCommand, PrintsTheSectionsOfItsCodes) {
  ProgramOutcome outcome = quern_with({"explain", "q0103", "109"});
  EXPECT_THAT(outcome.out, StartsWith("Q0103: unterminated string or comment\n\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n\nWrong:\n    print(\"loss, 0.25);\n\nRight:\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n\nQ0109: a missing `;`\n\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("```")));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
}

TEST(ExplainCommand, ListsAllWithoutACode) {
  ProgramOutcome outcome = quern_with({"explain"});
  EXPECT_THAT(outcome.out, StartsWith("Q0101  unexpected token\nQ0102  invalid UTF-8\n"));
  EXPECT_EQ(static_cast<size_t>(std::count(outcome.out.begin(), outcome.out.end(), '\n')),
            all_diagnostic_kinds().size());
  EXPECT_EQ(outcome.code, 0);
}

TEST(ExplainCommand, SaysWhichCodesThereAreForOneThatThereIsNot) {
  ProgramOutcome outcome = quern_with({"explain", "Q0209", "Q0103", "dims"});
  EXPECT_EQ(outcome.err,
            "quern: there is no `Q0209`; the nearest is `Q0208`; `quern explain` lists all\n"
            "quern: `dims` is no code of a diagnostic; they look like `Q0302`; `quern explain` lists all\n");
  EXPECT_THAT(outcome.out, StartsWith("Q0103: "));
  EXPECT_EQ(outcome.code, 2);
}

}  // namespace
}  // namespace quern
