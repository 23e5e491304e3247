// `quern test` of transcripts: what it compares and how it writes outputs anew.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

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
