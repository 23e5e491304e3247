// The map of the folders in docs/architecture.md is that of the tree.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace quern {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of_map() {
  std::ifstream in(fs::path(QUERN_SOURCE_DIR) / "docs/architecture.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::set<std::string> folders_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder))
    if (entry.is_directory() && !entry.path().filename().string().starts_with('.'))
      names.insert(entry.path().filename().string());
  return names;
}

/// The words in backticks of a text.
std::set<std::string> quoted(std::string_view text) {
  std::set<std::string> words;
  for (size_t open = text.find('`'); open != std::string_view::npos;) {
    const size_t close = text.find('`', open + 1);
    if (close == std::string_view::npos) break;
    words.emplace(text.substr(open + 1, close - open - 1));
    open = text.find('`', close + 1);
  }
  return words;
}

TEST(Architecture, NamesEveryRoomOfARoom) {
  const std::vector<std::string> lines = lines_of_map();
  for (const char* room : {"ir", "frontend", "frontend/infer", "jit"}) {
    auto line = std::find(lines.begin(), lines.end(), "| `" + std::string(room) + "` | |");
    ASSERT_NE(line, lines.end()) << room;
    std::set<std::string> named;
    for (line += 2; line != lines.end() && line->starts_with("| "); ++line)
      named.merge(quoted(std::string_view(*line).substr(0, line->find(" | "))));
    EXPECT_THAT(named, testing::ContainerEq(folders_in(room))) << room;
  }
}

TEST(Architecture, NamesEveryRoom) {
  const std::vector<std::string> lines = lines_of_map();
  const auto line = std::find(lines.begin(), lines.end(),
                              "The folders are the way of the data. A room includes only "
                              "rooms below it (checked by `tools/check_includes.awk`, part of");
  ASSERT_NE(line, lines.end());
  std::istringstream words(line[3]);
  std::set<std::string> named;
  for (std::string word; words >> word;) named.insert(word);
  std::set<std::string> rooms = folders_in(".");
  for (const char* other :
       {"bench", "build", "cmake", "docs", "editors", "examples", "grammar", "stdlib", "tests", "tools"})
    rooms.erase(other);
  EXPECT_THAT(named, testing::ContainerEq(rooms));
}

/// More files in one folder than one can look over. Folders of one file for each pass or feature may have
/// more.
TEST(Architecture, NoFolderIsAHeap) {
  constexpr int kMostFiles = 25;
  const std::set<std::string> kMayHaveMore = {"passes", "lsp", "ide"};
  for (const char* top : {"cli", "jupyter", "serve", "repl", "lsp", "ide", "export", "import", "session",
                          "jit", "passes", "frontend", "ir"}) {
    std::vector<fs::path> folders{top};
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / top))
      if (entry.is_directory()) folders.push_back(entry.path().lexically_relative(QUERN_SOURCE_DIR));
    for (const fs::path& folder : folders) {
      if (kMayHaveMore.contains(folder.string())) continue;
      int files = 0;
      for (const auto& entry : fs::directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder))
        files += entry.is_regular_file() ? 1 : 0;
      EXPECT_LE(files, kMostFiles) << folder;
    }
  }
}

}  // namespace
}  // namespace quern
