// Commands whose answers are measured, are of this machine, or are files. What others answer is in the
// transcripts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/repl/terminal.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTime = "[0-9.]+ (ns|us|ms|s)";

class Commands : public testing::Test {
 protected:
  ProgramOutcome run(const std::string& input) {
    return run_program({QUERN_BINARY}, folder_.string(), input);
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) { return read_file(folder_ / name); }

  const TemporaryFolder folder_;
};

TEST_F(Commands, TimeTellsThePhasesApart) {
  const ProgramOutcome outcome = run("let %x = ones((64, 64))\n:time print(nn.dense(%x, %x)[0, 0])\n");
  EXPECT_THAT(outcome.out, testing::StartsWith("64\n")) << "it is run, once";
  for (const char* phase : {"checking", "compiling", "running"})
    EXPECT_THAT(outcome.out, ContainsRegex(std::string(phase) + " +" + kTime));
  EXPECT_EQ(outcome.code, 0);
}

TEST_F(Commands, TimeLeavesTheSessionAsItWas) {
  const ProgramOutcome outcome = run("let %r = ref(1)\n:time %r := 2\n!%r\n:time %missing\n:time 1; 2\n");
  EXPECT_THAT(outcome.out, testing::EndsWith("int32 1\n"));
  EXPECT_THAT(outcome.err, HasSubstr("unknown variable `%missing`"));
  EXPECT_THAT(outcome.err, HasSubstr("`:time` takes one expression"));
}

TEST_F(Commands, BenchShowsRatiosToTheFirst) {
  const ProgramOutcome outcome =
      run("let %a = ones((64, 64)); let %b = ones((256, 256))\n"
          ":bench nn.dense(%a, %a), nn.dense(%b, %b), print(1)\n");
  EXPECT_THAT(outcome.out, ContainsRegex(std::string("nn.dense\\(%a, %a\\) +") + kTime + " +1.00"));
  EXPECT_THAT(outcome.out,
              ContainsRegex(std::string("nn.dense\\(%b, %b\\) +") + kTime + " +[0-9.]+ +[0-9.]+ to [0-9.]+"));
  EXPECT_THAT(outcome.out, ContainsRegex("[0-9]+ rounds in turns; [0-9]+, [0-9]+, [0-9]+ calls a round"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("int32 1\n"))) << "what is measured prints nothing";
}

TEST_F(Commands, BenchSaysWhatIsWrong) {
  const ProgramOutcome outcome = run(":bench 1,\n:bench 1, %missing\n:bench 1, ones((3,))[5 + 0]\n1\n");
  EXPECT_THAT(outcome.err, HasSubstr("an expression is missing beside a comma"));
  EXPECT_THAT(outcome.err, HasSubstr("unknown variable `%missing`"));
  EXPECT_THAT(outcome.err, HasSubstr("Q0341"));
  EXPECT_EQ(outcome.out, "int32 1\n");
}

TEST_F(Commands, ProfileShowsTheKernelsOfAnExpression) {
  const ProgramOutcome outcome =
      run("let %a = ones((64, 64))\n:profile nn.dense(%a, %a)\n:profile show\n:profile 1\n");
  EXPECT_THAT(outcome.out, ContainsRegex("dense_[0-9a-f]+ +1 "));
  EXPECT_THAT(outcome.out, ContainsRegex("peak [0-9.]+ GFLOP/s"));
  EXPECT_THAT(outcome.out, testing::EndsWith("no kernel was called\nno kernel was called\n"));
}

TEST_F(Commands, ProfileGoesOnWhereItWasOn) {
  const ProgramOutcome outcome =
      run("let %a = ones((64, 64))\n:profile on\n:profile nn.relu(%a)\nlet %b = nn.dense(%a, %a)\n:profile "
          "show\n");
  EXPECT_THAT(outcome.out, ContainsRegex("dense_[0-9a-f]+ +1 "));
}

TEST_F(Commands, RooflineNamesTheLimit) {
  const ProgramOutcome outcome =
      run("let %a = ones((256, 256))\nlet %w = ones((1024, 1024))\n:roofline (nn.dense(%a, %a), exp(%w), %w "
          "+ 1)\n");
  EXPECT_THAT(outcome.out, ContainsRegex("add_[0-9a-f]+ +0.12 .* memory +[0-9]+ %"));
  EXPECT_THAT(outcome.out, ContainsRegex("dense_[0-9a-f]+ +64.00 "));
  EXPECT_THAT(outcome.out, HasSubstr("FLOP/byte memory is the limit"));
}

TEST_F(Commands, TablesAreWrittenAsCsv) {
  const ProgramOutcome outcome =
      run(":table [[0.5, 10.25], [1e10, 0.1]] > matrix.csv\n"
          "type Row { Row(id: int32, at: Tensor[(2,), float32]) }\n"
          ":table Cons(Row(1, [1.0, 2.5]), Cons(Row(2, [3.0, 4.0]), Nil)) > rows.csv\n"
          ":table ([i < 1000] => i, [i < 1000] => i * i) > whole.csv\n");
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(read("matrix.csv"), "0.5,10.25\n10000000000,0.1\n");
  EXPECT_EQ(read("rows.csv"), "id,at\n1,\"[1, 2.5]\"\n2,\"[3, 4]\"\n");
  const std::string whole = read("whole.csv");
  EXPECT_EQ(std::ranges::count(whole, '\n'), 1001) << "nothing is left out";
  EXPECT_THAT(whole, testing::EndsWith("\n999,998001\n"));
}

TEST_F(Commands, MemoryCountsValues) {
  const ProgramOutcome outcome = run("let %a = ones((1024, 256)); let %b = (%a, %a)\n:mem\n");
  EXPECT_THAT(outcome.out, ContainsRegex("values of variables +2 +1.0 MiB")) << "what is shared counts once";
}

TEST_F(Commands, MemoryCountsPrepackedForms) {
  const ProgramOutcome outcome =
      run("let %w = ones((512, 256)); let %x = ones((64, 256))\n"
          "def @f(%x: Tensor[(64, 256), float32], %w: Tensor[(512, 256), float32]) { nn.dense(%x, %w) }\n"
          "@f(%x, %w)[0, 0]\n:mem\n");
  EXPECT_THAT(outcome.out, ContainsRegex("prepacked forms of tensors +1 +512.0 KiB"));
}

TEST_F(Commands, MemoryIsToldInWordsOfTheLanguage) {
  const ProgramOutcome outcome = run("def @f(%x) { %x + 1 }\nprint(@f(2))\n:mem\n");
  for (const char* kind :
       {"texts of files and inputs +[0-9]+ +", "syntax trees +", "typed definitions and statements +",
        "operators at ranks and dtypes +", "together +"})
    EXPECT_THAT(outcome.out, ContainsRegex(std::string("\n") + kind + "[0-9.]+ (byte|KiB|MiB)"));
  for (const char* internal :
       {"_", "interned", "chunk", "infer", "annotated", "instance", "parse", "head", "slash"})
    EXPECT_THAT(outcome.out, Not(HasSubstr(internal))) << "a word of the implementation";
}

TEST_F(Commands, StagesOfKernels) {
  const ProgramOutcome outcome =
      run("let %a = ones((8,))\n:loops %a + 1\n:llvm %a + 1\n:asm %a + 1\n:ir all %a + 1\n");
  EXPECT_THAT(outcome.out, HasSubstr("for "));
  EXPECT_THAT(outcome.out, HasSubstr("define "));
  EXPECT_THAT(outcome.out, HasSubstr("ret"));
  for (const char* stage : {"typed", "effects", "inline", "fuse", "fused", "bytecode", "schedule", "asm"})
    EXPECT_THAT(outcome.out, HasSubstr(std::string("// --- ") + stage + "\n"));
}

TEST_F(Commands, GraphsAreWrittenToFiles) {
  const ProgramOutcome outcome = run(
      "def @f(%x: Tensor[(4, 4), float32]) { let %y = nn.dense(%x, %x); (exp(%y), sum(%y, axis=1) < sum(%x, "
      "axis=0)) }\n"
      ":graph @f > f.dot\n:graph @f>f.svg\n:graph (1 > 2)\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(read("f.dot"),
              ContainsRegex("n2 \\[label=\"dense_[0-9a-f]+\\\\n\\(4, 4\\) float32\\\\n128 FLOPs"));
  EXPECT_THAT(read("f.dot"), HasSubstr("n1 -> n2 [label=\"(4, 4) float32\"];"));
  EXPECT_THAT(read("f.svg"), testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(read("f.svg"), HasSubstr(">%x</text>"));
  EXPECT_THAT(read("f.svg"), testing::EndsWith("</svg>\n"));
}

TEST_F(Commands, PicturesAreWrittenToFiles) {
  const ProgramOutcome outcome =
      run("let %x = [1.0, 4.0, 9.0];\n:plot %x > x.svg\n:plot %x, -%x>both.svg\n:plot %x > x.png\n:hist %x > "
          "h.svg\n"
          ":image [[0.0, 1.0]] > i.png\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "1 x 2, black is 0, white 1\n");
  for (const char* file : {"x.svg", "both.svg", "h.svg"}) {
    EXPECT_THAT(read(file), testing::StartsWith("<svg xmlns=")) << file;
    EXPECT_THAT(read(file), testing::EndsWith("</svg>\n")) << file;
  }
  EXPECT_THAT(read("both.svg"), HasSubstr(">-%x</text>"));
  for (const char* file : {"x.png", "i.png"})
    EXPECT_THAT(read(file), testing::StartsWith("\x89PNG\r\n")) << file;
}

TEST_F(Commands, ASavedSessionIsAScriptThatDoesTheSame) {
  const std::string session =
      "let %x = [1, 2, 3]\n%x * 2 // twice\n%_ + 1; %_1\ndef @f(%a: int32) { %a + 1 }\n"
      "/// Adds two.\ndef @f(%a: int32) {\n  %a + 2\n}\n@f(1)\n%missing\n%_3; \"%_4 /* %_4 */\"\n"
      "op half(%a: Tensor[s, float32]) -> Tensor[s, float32] { [..i] => %a[..i] / 2 }\nhalf([1.0])\n";
  const ProgramOutcome typed = run(session + ":save s.relay\n");
  const ProgramOutcome script = run_program({QUERN_BINARY, "run", "s.relay"}, folder_.string());
  EXPECT_EQ(script.out, typed.out) << read("s.relay") << script.err;
  EXPECT_THAT(read("s.relay"), HasSubstr("let %_1 = %x * 2; %_1;"));
  EXPECT_THAT(read("s.relay"), HasSubstr("/// Adds two.\ndef @f")) << "and the earlier @f has gone";
  EXPECT_THAT(read("s.relay"), Not(HasSubstr("%a + 1 }")));
  EXPECT_EQ(run(":replay s.relay\n").out, typed.out);
  EXPECT_THAT(run(":save /missing/s.relay\n").err, HasSubstr("`/missing/s.relay` cannot be written: "));
}

TEST_F(Commands, ReplayStopsAtTheFirstMistake) {
  write("a.relay", "let %x = (1 +\n  2)\n\n:type %x\ndef @f() {\n  %x\n}\n%x\n");
  const ProgramOutcome outcome = run(":replay a.relay\n%x + 1\n:replay missing.relay\n");
  EXPECT_EQ(outcome.out, "int32\nint32 4\n");
  EXPECT_THAT(outcome.err, HasSubstr("`a.relay` is left at line 5\n"));
  EXPECT_THAT(outcome.err, HasSubstr("`missing.relay` cannot be read"));
}

TEST_F(Commands, ReplayShowsWhatItTypes) {
  write("a.relay", "1 + 1\nlet %x = 2\n");
  Terminal terminal(QUERN_BINARY, folder_.string());
  terminal.read_to_prompt();
  EXPECT_EQ(terminal.enter(":replay a.relay"), ">>> 1 + 1\nint32 2\n>>> let %x = 2\n>>> ");
}

TEST_F(Commands, EditTakesWhatTheEditorLeaves) {
  write("editor", "#!/bin/sh\nsed -i 's/1/2/' \"$1\"\n");
  std::filesystem::permissions(folder_ / "editor", std::filesystem::perms::owner_all);
  const std::string with_editor = "EDITOR=" + (folder_ / "editor").string() + " VISUAL= " + QUERN_BINARY;
  const auto edit = [&](const std::string& input) {
    return run_program({"/bin/sh", "-c", with_editor}, folder_.string(), input);
  };
  EXPECT_EQ(edit("def @f(%x: int32) { %x + 1 }\n:edit @f\n@f(0)\n").out,
            "def @f(%x: int32) { %x + 2 }\nint32 2\n");
  EXPECT_EQ(edit("1 + 1\n:edit\n").out, "int32 2\n2 + 1\nint32 3\n");
  EXPECT_EQ(edit("5\n:edit\n").out, "int32 5\nnothing is changed\n");
  // What is not taken is not lost.
  write("editor", "#!/bin/sh\nsed -i 's/+ 2)/+ 3/; s/+ 1/+ 2)/' \"$1\"\n");
  const ProgramOutcome again = edit("def @g(%x: int32) { %x + 1 }\n:edit @g\n:edit @g\n@g(0)\n");
  EXPECT_THAT(again.out,
              HasSubstr("`:edit @g` opens this text again\ndef @g(%x: int32) { %x + 3 }\nint32 3\n"));
  EXPECT_THAT(edit(":edit @missing\n").err, HasSubstr("no input declares `@missing`"));
  const std::string without = std::string("EDITOR= VISUAL= ") + QUERN_BINARY;
  EXPECT_THAT(run_program({"/bin/sh", "-c", without}, folder_.string(), "1\n:edit\n").err,
              HasSubstr("no editor is set"));
  const std::string failing = std::string("EDITOR=false VISUAL= ") + QUERN_BINARY;
  EXPECT_THAT(run_program({"/bin/sh", "-c", failing}, folder_.string(), "1\n:edit\n").err,
              HasSubstr("`false` ended with 1: nothing is taken"));
}

TEST_F(Commands, TimingTellsHowLongEachInputTook) {
  const ProgramOutcome outcome = run(":set timing on\n1 + 1\n:set timing off\n2 + 2\n");
  EXPECT_THAT(outcome.out, ContainsRegex(std::string("^int32 2\n") + kTime + "\nint32 4\n$"));
}

TEST_F(Commands, ExitAndQuitEndTheSession) {
  for (const char* word : {"exit", "quit", ":q"})
    EXPECT_EQ(run(std::string("1\n") + word + "\n2\n").out, "int32 1\n") << word;
}

TEST_F(Commands, AreInterruptedByCtrlC) {
  Terminal terminal(QUERN_BINARY, folder_.string());
  terminal.read_to_prompt();
  terminal.enter(
      "def @long(%x: float32) -> float32 { ([i < 1] => sum[k < 100000000000] exp(%x * cast<float32>(k)))[0] "
      "}");
  terminal.enter("let %kept = [1, 2]");
  for (const char* command :
       {":time @long(1)", ":bench 1, @long(1)", ":profile @long(1)", ":roofline @long(1)", ":nan @long(1)",
        ":probe @long(1) %x", ":check-grad @long(1.0)"}) {
    terminal.type(std::string(command) + "\n");
    EXPECT_EQ(terminal.read_to_prompt(std::chrono::milliseconds(900)), "") << command;
    terminal.type(std::string(1, Terminal::kCtrlC));
    EXPECT_THAT(terminal.read_to_prompt(), HasSubstr("interrupted")) << command;
    EXPECT_EQ(terminal.enter("%kept"), "Tensor[(2,), int32] [1, 2]\n>>> ") << command;
  }
}

}  // namespace
}  // namespace quern
