// Earlier inputs: whole ones, in a file.

#include "repl/editor/history.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/files.h"
#include "tests/temporary_folder.h"

namespace quern::editor {
namespace {

TEST(History, IsReadAgain) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "state" / "history";
  History first(path);
  first.add("let %x = 1");
  first.add("def @f(%x) {\n  print(\"a\\nb\");\n  %x\n}");
  first.add("日本 \\ \xff");
  const History second(path);
  ASSERT_EQ(second.size(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(second.entry(i), first.entry(i));
}

TEST(History, KeepsNoBlankInputAndNoRepetition) {
  History history;
  for (const char* input : {"a", "a", "", " \n", "b", "a"}) history.add(input);
  ASSERT_EQ(history.size(), 3);
  EXPECT_EQ(history.entry(2), "a");
}

TEST(History, OfSeveralProcessesIsOne) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "history";
  History first(path), second(path);
  first.add("one");
  second.add("two");
  first.add("three");
  const History third(path);
  ASSERT_EQ(third.size(), 3);
  EXPECT_EQ(third.entry(1), "two");
}

TEST(History, DropsTheOldestOfTooMany) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "history";
  std::ofstream out(path);
  for (size_t i = 0; i < 2 * History::kMostEntries; ++i) out << i << '\n';
  out.close();
  const History history(path);
  ASSERT_EQ(history.size(), History::kMostEntries);
  EXPECT_EQ(history.entry(0), std::to_string(History::kMostEntries));
  const std::string kept = read_file(path);
  EXPECT_TRUE(kept.starts_with(std::to_string(History::kMostEntries) + "\n"));
}

TEST(History, ThatCannotBeWrittenIsOfTheSession) {
  History history("/dev/null/history");
  history.add("one");
  EXPECT_EQ(history.size(), 1);
}

TEST(History, IsSearched) {
  History history;
  for (const char* input : {"let %x = 1", "nn.relu(%x)", "let %Y = 2", "nn.relu(%Y)"}) history.add(input);
  EXPECT_EQ(history.earlier(4, "let", ""), 2);
  EXPECT_EQ(history.earlier(4, "let", "let %Y = 2"), 0);
  EXPECT_EQ(history.earlier(0, "let", ""), std::nullopt);
  EXPECT_EQ(history.later(0, "let", ""), 2);
  EXPECT_EQ(history.later(2, "let", ""), std::nullopt);
  EXPECT_EQ(history.continuation("nn."), "relu(%Y)");
  EXPECT_EQ(history.continuation("nn.relu(%x"), ")");
  EXPECT_EQ(history.continuation("x"), "");
  EXPECT_EQ(history.continuation(""), "");
  // Small letters stand for either case.
  EXPECT_EQ(history.containing_before(4, "%y")->index, 3);
  EXPECT_EQ(history.containing_before(4, "%Y")->offset, 8);
  EXPECT_EQ(history.containing_before(3, "relu")->index, 1);
  EXPECT_EQ(history.containing_after(1, "relu")->index, 3);
  EXPECT_FALSE(history.containing_before(4, "Relu"));
}

TEST(History, IsWhereTheUserHasState) {
  const char* home = std::getenv("HOME");
  const std::string kept = home ? home : "";
  setenv("HOME", "/somebody", 1);
  unsetenv("XDG_STATE_HOME");
  unsetenv("QUERN_HISTORY");
  EXPECT_EQ(history_path(), "/somebody/.local/state/quern/history");
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(history_path(), "/state/quern/history");
  setenv("QUERN_HISTORY", "off", 1);
  EXPECT_EQ(history_path(), "");
  setenv("QUERN_HISTORY", "h.txt", 1);
  EXPECT_EQ(history_path(), "h.txt");
  unsetenv("XDG_STATE_HOME");
  unsetenv("QUERN_HISTORY");
  setenv("HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace quern::editor
