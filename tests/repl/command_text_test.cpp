// Texts of commands' answers.

#include "repl/report/command_text.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

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

TEST(CommandText, TellsOtherFilesFromComparisons) {
  constexpr std::string_view endings[] = {".svg", ".dot"};
  const auto why = [&](std::string_view request) { return wrong_ending(request, ":graph", endings); };
  EXPECT_EQ(why("@f > a/b.png"), "`:graph` writes .svg or .dot, not `.png`");
  EXPECT_EQ(why("@f > \"1.txt\""), "`:graph` writes .svg or .dot, not `.txt`");
  for (const char* fine : {"@f > a.svg", "@f", "%x > 1.5", "%x > 1.5f", "%x > 2f", "%x > %net.bias", "%x > a",
                           "@f >", "%x > sum(%y.a)"})
    EXPECT_EQ(why(fine), "") << fine;
}

}  // namespace
}  // namespace quern
