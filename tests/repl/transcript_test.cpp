// Transcripts as text: what their steps are, what matches their outputs, and how they are written anew.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "repl/transcript.h"
#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

std::string described(const Transcript& transcript) {
  std::string text;
  for (const TranscriptStep& step : transcript.steps) {
    constexpr const char* kKinds[] = {"input", "command", "file"};
    text += kKinds[static_cast<size_t>(step.kind)];
    text += (step.is_fresh ? " fresh" : "") + std::string(" in ") + step.folder.string() + ": " + step.text +
            "\n";
    for (const std::string& line : transcript.expected(step)) text += "  " + line + "\n";
  }
  return text;
}

TEST(TranscriptText, IsInputsAndTheirOutputs) {
  EXPECT_EQ(described(parse_transcript("a/b.transcript",
                                       "Prose.\n"
                                       ">>> let %x = (1 +\n"
                                       "...   2)\n"
                                       ">>> %x  \n"
                                       "int32 3  \n"
                                       "\n"
                                       ">>> def @f()\n"
                                       "...\n"
                                       "error\n"
                                       "... in an output\n"
                                       ">>>\n")),
            "input fresh in a: let %x = (1 +\n  2)\n"
            "input in a: %x  \n"
            "  int32 3\n"
            "input in a: def @f()\n\n"
            "  error\n"
            "  ... in an output\n");
}

TEST(TranscriptText, IsInBlocksOfMarkdown) {
  EXPECT_EQ(described(parse_transcript("docs/b.md",
                                       "# Title\n"
                                       ">>> no input\n"
                                       "```quern\n"
                                       ">>> 1\n"
                                       "int32 1\n"
                                       "```\n"
                                       "```relay\n"
                                       ">>> no input\n"
                                       "```\n"
                                       "```quern\n"
                                       ">>> 2\n"
                                       "```\n"
                                       "```quern fresh\n"
                                       ">>> 3\n"
                                       "```\n"
                                       "```console in=..\n"
                                       "$ cd here\n"
                                       "$ quern run a.relay\n"
                                       "int32 2\n"
                                       "```\n"
                                       "```relay shows=a.relay\n"
                                       "1 + 1\n"
                                       "```\n")),
            "input fresh in docs: 1\n"
            "  int32 1\n"
            "input in docs: 2\n"
            "input fresh in docs: 3\n"
            "command in docs/..: quern run a.relay\n"
            "  int32 2\n"
            "file in docs/..: a.relay\n"
            "  1 + 1\n");
}

using Lines = std::vector<std::string>;

struct Match {
  Lines expected, actual;
  bool matches;
};

TEST(TranscriptText, MatchesLinesAndGaps) {
  const std::vector<Match> rows{
      {{}, {}, true},
      {{"a"}, {"a"}, true},
      {{"a"}, {"b"}, false},
      {{"a"}, {}, false},
      {{}, {"a"}, false},
      {{"took ... ms"}, {"took 1.5 ms"}, true},
      {{"took ... ms"}, {"took 1.5 s"}, false},
      {{"... of ..."}, {"1 of 2"}, true},
      {{"a...a"}, {"a"}, false},
      {{"...ab...b"}, {"xabab"}, true},
      {{"..."}, {"one line"}, true},
      {{"..."}, {"two", "lines"}, false},
      {{"...."}, {}, true},
      {{"...."}, {"two", "lines"}, true},
      {{"a", "....", "z"}, {"a", "b", "c", "z"}, true},
      {{"a", "....", "z"}, {"a", "b", "c"}, false},
      {{"....", "z"}, {"z", "z"}, true},
  };
  for (const Match& row : rows)
    EXPECT_EQ(output_matches(row.expected, row.actual), row.matches)
        << testing::PrintToString(row.expected) << testing::PrintToString(row.actual);
}

TEST(TranscriptText, ShowsTheLinesThatDiffer) {
  EXPECT_EQ(output_difference({"a", "b", "c"}, {"a", "x", "c", "d"}), " a\n-b\n+x\n c\n+d\n");
  EXPECT_EQ(output_difference({"a", "....", "c"}, {"a", "b", "b", "d"}), " a\n b\n b\n d\n-c\n");
}

TEST(TranscriptText, IsWrittenAnewWhereItDiffers) {
  const Transcript transcript = parse_transcript("a.transcript",
                                                 ">>> 1\n"
                                                 "took ... ms\n"
                                                 "\n"
                                                 ">>> 2\n"
                                                 "old\n"
                                                 "lines\n"
                                                 "\n"
                                                 ">>> 3\n");
  EXPECT_EQ(updated_transcript(transcript, {{"took 2 ms"}, {"new"}, {"3"}}),
            ">>> 1\n"
            "took ... ms\n"
            "\n"
            ">>> 2\n"
            "new\n"
            "\n"
            ">>> 3\n"
            "3\n");
}

// The whole way, through `quern test`: what prints and what is wrong in one order, sessions, commands and files.
TEST(TranscriptCommand, ComparesAndWritesAnew) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.md").string(), program = (folder / "a.relay").string();
  std::ofstream(program) << "print(\"two\"); 1 + 1\n";
  const std::string right =
      "```quern\n"
      ">>> let %x = 1; print(\"one\"); %y\n"
      "error[Q0201]: unknown variable `%y`\n"
      "....\n"
      ">>> %x\n"
      "error[Q0201]: unknown variable `%x`\n"
      "....\n"
      ">>> let %x = 2\n"
      "```\n"
      "```quern fresh\n"
      ">>> %x\n"
      "error[Q0201]: ...\n"
      "....\n"
      "```\n"
      "```console\n"
      "$ quern run a.relay\n"
      "two\n"
      "int32 2\n"
      "```\n"
      "```relay shows=a.relay\n"
      "print(\"two\"); 1 + 1\n"
      "```\n";
  std::ofstream(path) << right;
  ProgramOutcome outcome = run_program({QUERN_BINARY, "test", path}, QUERN_SOURCE_DIR);
  EXPECT_EQ(outcome.out, "ok     " + path + ": 6 outputs\n6 passed, 0 failed\n") << outcome.err;
  EXPECT_EQ(outcome.code, 0);

  std::string wrong = right;
  wrong.replace(wrong.find("int32 2\n"), 8, "int32 3\n");
  std::ofstream(path) << wrong;
  outcome = run_program({QUERN_BINARY, "test", path}, QUERN_SOURCE_DIR);
  EXPECT_EQ(outcome.out,
            "FAILED " + path + ":16: $ quern run a.relay\n two\n-int32 3\n+int32 2\n5 passed, 1 failed\n");
  EXPECT_EQ(outcome.code, 1);
  outcome = run_program({QUERN_BINARY, "test", "--update", path}, QUERN_SOURCE_DIR);
  EXPECT_EQ(outcome.out, path + ": 1 outputs of 6 are written anew\n6 passed, 0 failed\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(read_file(path), right);
}

TEST(TranscriptCommand, RefusesWhatItCannotKeep) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.transcript").string();
  const std::string text = ">>> print(\">>> 1\")\n";
  std::ofstream(path) << text;
  const ProgramOutcome outcome = run_program({QUERN_BINARY, "test", "--update", path}, QUERN_SOURCE_DIR);
  EXPECT_NE(outcome.err.find("lines that a transcript cannot hold"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(read_file(path), text);
}

}  // namespace
}  // namespace quern
