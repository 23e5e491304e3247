// Texts of commands' answers.

#include "repl/report/command_text.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

TEST(CommandText, BreaksLinesBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 0, 80), "one two three");
  EXPECT_EQ(wrapped("one two three four five six seven", 4, 27), "one two three four five\n    six seven");
  EXPECT_EQ(wrapped("é é é é é é é é é é é é", 0, 20), "é é é é é é é é é é\né é");
  EXPECT_EQ(wrapped("a-word-that-is-longer-than-a-line b", 0, 20), "a-word-that-is-longer-than-a-line\nb");
  EXPECT_EQ(wrapped("", 4, 80), "");
  // Beside a wide column there is room for some words.
  EXPECT_EQ(wrapped("one two three four five", 90, 80),
            "one two three four\n" + std::string(90, ' ') + "five");
}

TEST(CommandText, BreaksTheLastOfColumns) {
  EXPECT_EQ(columns_text({{"a", "one two three four five six"}, {"bb", "seven"}}, "ll", 28),
            "a   one two three four five\n    six\nbb  seven\n");
  EXPECT_EQ(columns_text({{"a", "one two three four five six"}}, "ll"), "a  one two three four five six\n");
}

TEST(CommandText, ShowsMarkdownWithoutFences) {
  EXPECT_EQ(plain_markdown("What it does.\n```relay\nf(1)\n\n// 2\n```\nMore.", 80),
            "What it does.\n\n    f(1)\n\n    // 2\nMore.\n");
  // Paragraphs have other lines than in their source, lists the same.
  EXPECT_EQ(plain_markdown("one two\nthree four five six seven\n- a\n- b\n", 20),
            "one two three four\nfive six seven\n- a\n- b\n");
}

}  // namespace
}  // namespace quern
