// The map of the folders in docs/architecture.md is that of the tree.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
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

/// The folders of product source, with all in them.
std::vector<fs::path> product_folders() {
  std::vector<fs::path> folders;
  for (const char* top : {"cli", "jupyter", "serve", "repl", "lsp", "ide", "export", "import", "session",
                          "jit", "passes", "frontend", "ir"}) {
    folders.emplace_back(top);
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / top))
      if (entry.is_directory()) folders.push_back(entry.path().lexically_relative(QUERN_SOURCE_DIR));
  }
  return folders;
}

/// The words in backticks of a text.
std::set<std::string> words_in_backticks(std::string_view text) {
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
  for (const char* room :
       {"ir", "frontend", "frontend/infer", "jit", "passes", "session", "import", "export", "lsp", "repl"}) {
    auto line = std::find(lines.begin(), lines.end(), "| `" + std::string(room) + "` | |");
    ASSERT_NE(line, lines.end()) << room;
    std::set<std::string> named;
    for (line += 2; line != lines.end() && line->starts_with("| "); ++line) {
      const std::string_view name = std::string_view(*line).substr(0, line->find(" | "));
      if (!name.ends_with("itself")) named.merge(words_in_backticks(name));
    }
    EXPECT_THAT(named, testing::ContainerEq(folders_in(room))) << room;
  }
}

/// Those deeper than the rooms of a room stand in the text, with the folder they are in.
TEST(Architecture, NamesEveryFolder) {
  std::string text;
  for (const std::string& line : lines_of_map()) text += line + "\n";
  const std::set<std::string> words = words_in_backticks(text);
  for (const fs::path& folder : product_folders()) {
    const std::string name = folder.string();
    const auto depth = std::distance(folder.begin(), folder.end());
    const std::string last = (folder.parent_path().filename() / folder.filename()).string();
    if (depth <= 2 || name.starts_with("frontend/infer/")) continue;
    EXPECT_TRUE(words.contains(name) || words.contains(last)) << name;
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
  for (const fs::path& folder : product_folders()) {
    if (kMayHaveMore.contains(folder.string())) continue;
    int files = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder))
      files += entry.is_regular_file() ? 1 : 0;
    EXPECT_LE(files, kMostFiles) << folder;
  }
}

/// Whether a line of code, as clang-format lays it out, declares a variable of the process or of a thread that can change.
bool is_state(std::string line) {
  static const std::regex kInside(
      R"(^\s+(inline )?static (thread_local )?(?!const |constexpr )[\w:<>,*& ]+[*& ]\w+( = .*|\{.*\})?;$)");
  static const std::regex kOutside(
      R"(^((static|inline|constinit) )*(struct )?(?!(using|return|namespace|class|struct|enum|friend|extern|template|typedef|const|constexpr|static|inline|delete)\b)\w[\w:<>,* ]*[*& ]\w+(\[\w*\])?( = [^;]*|\{.*\})?;$)");
  line.resize(std::min(line.find("//"), line.size()));
  while (line.ends_with(' ')) line.pop_back();
  const bool is_inside = line.starts_with(' ');
  if (!line.ends_with(';') || line.find("constexpr") != std::string::npos) return false;
  if (line.find("thread_local ") != std::string::npos) return true;
  if (is_inside && line.find("static ") == std::string::npos) return false;
  return std::regex_match(line, is_inside ? kInside : kOutside);
}

TEST(Architecture, NamesWhatTheProcessHas) {
  const std::vector<std::string> lines = lines_of_map();
  auto line = std::find(lines.begin(), lines.end(), "## What the process has");
  ASSERT_NE(line, lines.end());
  std::set<std::string> named, found;
  while (++line != lines.end() && !line->starts_with("## ")) named.merge(words_in_backticks(*line));
  for (const fs::path& folder : product_folders())
    for (const auto& entry : fs::directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      std::ifstream in(entry.path());
      for (std::string code; std::getline(in, code);)
        if (is_state(code)) found.insert((folder / entry.path().stem()).string());
    }
  EXPECT_THAT(named, testing::ContainerEq(found));
}

}  // namespace
}  // namespace quern
