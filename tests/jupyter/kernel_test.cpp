// The Jupyter kernel, driven by Jupyter's own client on a notebook.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/child_process.h"
#include "jupyter/cell.h"
#include "tests/temporary_folder.h"

namespace quern::jupyter {
namespace {

using namespace std::chrono_literals;

TEST(Cell, IsInputsAsAtThePrompt) {
  using Inputs = std::vector<std::string>;
  EXPECT_EQ(inputs_of(""), Inputs());
  EXPECT_EQ(inputs_of("\n  \n"), Inputs());
  EXPECT_EQ(inputs_of("1 + 2"), Inputs{"1 + 2"});
  EXPECT_EQ(inputs_of("let %x = 1\n%x\n"), (Inputs{"let %x = 1", "%x"}));
  EXPECT_EQ(inputs_of("def @f(%a: int32) {\n  %a\n}\n:type @f\nnn.relu?"),
            (Inputs{"def @f(%a: int32) {\n  %a\n}", ":type @f", "nn.relu?"}));
  EXPECT_EQ(inputs_of("(1,\n:2)"), Inputs{"(1,\n:2)"});
  // What never ends is an input all the same, which says what is missing.
  EXPECT_EQ(inputs_of("(1,\n2"), Inputs{"(1,\n2"});
}

TEST(Cell, CountsCharacters) {
  const std::string text = "a日👍b";
  const std::array<size_t, 5> bytes{0, 1, 4, 8, 9};
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(byte_of(text, i), bytes[i]);
    EXPECT_EQ(character_of(text, bytes[i]), i);
  }
  EXPECT_EQ(byte_of(text, 99), text.size());
  EXPECT_EQ(name_at("nn.relu(%x)", 3), "nn.relu");
  EXPECT_EQ(name_at("nn.relu(%x)", 9), "%x");
  EXPECT_EQ(name_at("nn.relu(%x)", 99), "");
}

TEST(Kernel, AnswersANotebook) {
  const TemporaryFolder folder;
  const std::string kernel = QUERN_KERNEL;
  const ChildOutcome installed = run_child({kernel, "install", "--prefix", folder.string()}, 60s);
  ASSERT_TRUE(installed.is_fine()) << installed.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "kernels/quern/kernel.json"));
  const std::string tests = QUERN_SOURCE_DIR "/tests/jupyter";
  std::vector<std::string> command{"/usr/bin/python3", tests + "/check_kernel.py", tests + "/session.ipynb"};
  if (std::getenv("QUERN_UPDATE_GOLDENS")) command.emplace_back("--update");
  const ChildOutcome checked =
      run_child(command, 300s,
                {"JUPYTER_PATH=" + folder.string(), "JUPYTER_RUNTIME_DIR=" + folder.string(),
                 "IPYTHONDIR=" + folder.string(), "PYTHONDONTWRITEBYTECODE=1"});
  EXPECT_TRUE(checked.is_fine()) << checked.out << checked.err;
}

TEST(Kernel, ReportsAConnectionThatCannotBeRead) {
  const ChildOutcome outcome = run_child({QUERN_KERNEL, "missing.json"}, 60s);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("missing.json"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace quern::jupyter
