// Completion in the arguments of commands.

#include "repl/command_completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

/// What a text becomes by each completion at its end; `language` where the language completes.
std::vector<std::string> completed(const std::string& text) {
  const std::string name = text.substr(0, text.find(' '));
  const auto command = std::ranges::find(repl_commands(), name, &ReplCommand::name);
  if (command == repl_commands().end()) return {"no command"};
  std::vector<std::string> help;
  const auto found = complete_argument(*command, Settings(), text, name.size() + 1, text.size(), help);
  if (!found) return {"language"};
  EXPECT_EQ(found->items.size(), help.size());
  std::vector<std::string> texts;
  texts.reserve(found->items.size());
  for (const editor::Completion& item : found->items)
    texts.push_back(text.substr(0, found->begin) + item.inserted);
  return texts;
}

class FilesOfCommands : public testing::Test {
 protected:
  FilesOfCommands() {
    std::filesystem::create_directory(folder_ / "models");
    for (const char* name : {"a b.relay", "models/net.relay", "models/.hidden", "table.csv"})
      std::ofstream(folder_ / name);
    std::filesystem::current_path(folder_.path());
  }
  ~FilesOfCommands() override { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
  const TemporaryFolder folder_;
};

TEST_F(FilesOfCommands, AreCompletedWithTheirFolders) {
  EXPECT_THAT(completed(":load "), ElementsAre(":load a b.relay", ":load models/", ":load table.csv"));
  EXPECT_THAT(completed(":load mo"), ElementsAre(":load models/"));
  EXPECT_THAT(completed(":load models/"), ElementsAre(":load models/net.relay"));
  EXPECT_THAT(completed(":load models/."), ElementsAre(":load models/.hidden"));
  EXPECT_THAT(completed(":load a b"), ElementsAre(":load a b.relay"));
  EXPECT_THAT(completed(":save \"ta"), ElementsAre(":save \"table.csv"));
  EXPECT_THAT(completed(":replay none/"), IsEmpty());
  EXPECT_THAT(completed(":! ls mo"), ElementsAre(":! ls models/"));
}

TEST_F(FilesOfCommands, StandBehindWhatIsWritten) {
  EXPECT_THAT(completed(":plot [1, 2] > ta"), ElementsAre(":plot [1, 2] > table.csv"));
  EXPECT_THAT(completed(":plot [1, 2"), ElementsAre("language"));
  EXPECT_THAT(completed(":plot [i < 3] => i"), ElementsAre("language"));
}

TEST(CommandCompletion, OffersStagesPassesCodesSettingsAndCommands) {
  EXPECT_THAT(completed(":ir sch"), ElementsAre(":ir schedule "));
  EXPECT_THAT(completed(":ir di"), ElementsAre(":ir diff "));
  EXPECT_THAT(completed(":ir @f"), ElementsAre("language"));
  EXPECT_THAT(completed(":ir loops ten"), ElementsAre("language"));
  EXPECT_THAT(completed(":ir nn.de"), ElementsAre("language"));
  EXPECT_THAT(completed(":apply inline,dead"), ElementsAre(":apply inline,dead_code"));
  EXPECT_THAT(completed(":apply fuse @"), ElementsAre("language"));
  EXPECT_THAT(completed(":explain Q0302"), ElementsAre(":explain Q0302"));
  EXPECT_THAT(completed(":explain "), Not(IsEmpty()));
  EXPECT_THAT(completed(":help ben"), ElementsAre(":help bench"));
  EXPECT_THAT(completed(":help :ben"), ElementsAre(":help :bench"));
  EXPECT_THAT(completed(":set prec"), ElementsAre(":set precision "));
  EXPECT_THAT(completed(":type te"), ElementsAre("language"));
}

}  // namespace
}  // namespace quern
