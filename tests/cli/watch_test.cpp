// `quern run --watch`, on a terminal: what changes on the disk is run again, and Ctrl-C ends it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/golden/run_program.h"
#include "tests/repl/terminal.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::HasSubstr;
using testing::Not;

class Watch : public testing::Test {
 protected:
  /// Replaces the file as a whole: what looks at it meanwhile never finds half of it.
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / "aside") << text;
    std::filesystem::rename(folder_ / "aside", folder_ / name);
  }
  void save(const std::string& values) {
    run_program({QUERN_BINARY, "-c", "save(\"d.npy\", " + values + ")"}, folder_.path().string());
  }
  /// What is shown until the next run has ended.
  static std::string next_run(Terminal& terminal) {
    std::string shown;
    for (int i = 0; i < 600 && shown.find("Ctrl-C ends\n") == std::string::npos; ++i)
      shown += terminal.read_to_prompt(std::chrono::milliseconds(100));
    return shown;
  }

  const TemporaryFolder folder_;
};

TEST_F(Watch, RunsAgainWhatChanges) {
  write("lib.relay", "def @f(%x: int32) -> int32 { %x + 1 }\n");
  save("[1.0, 2.0]");
  const std::string start =
      "import \"lib.relay\" as lib\nlet %d: Tensor[(2,), float32] = load(\"d.npy\");\n"
      "let %y = @lib.f(1);\n";
  write("main.relay", start + "print(\"y\", %y, %d)\n");
  Terminal terminal(QUERN_BINARY, folder_.path().string(), Terminal::Colour::No, {"main.relay", "--watch"});
  EXPECT_THAT(next_run(terminal), HasSubstr("y 2 [1, 2]\nquern: "));
  // The type of a variable may be another one then.
  write("lib.relay", "def @f(%x: int32) -> float32 { 2.5 }\n");
  EXPECT_THAT(next_run(terminal),
              testing::MatchesRegex("y 2.5 [^\n]*\nquern: `lib.relay` changed: 1 function and "
                                    ".*"));
  save("[5.0, 2.0]");
  EXPECT_THAT(next_run(terminal), HasSubstr("[5, 2]\nquern: `d.npy` changed: 0 functions and "));
  write("main.relay", start + "print(%oops)\n");
  EXPECT_THAT(next_run(terminal), HasSubstr("error[Q0201]: unknown variable `%oops`"));
  write("main.relay", start + "print(\"again\", %y)\n");
  EXPECT_THAT(next_run(terminal), HasSubstr("again 2.5\nquern: `main.relay` changed: "));
  terminal.type(std::string(1, Terminal::kCtrlC));
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Watch, IsForFiles) {
  EXPECT_EQ(run_program({QUERN_BINARY, "-c", "1", "--watch"}, folder_.path().string()).code, 2);
}

}  // namespace
}  // namespace quern
