#include "ide/folding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace quern::ide {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What may be folded away; comments with a `#` before.
std::vector<std::string> folded(const std::string& text) {
  std::vector<std::string> parts;
  for (const Folding& f : foldings(text))
    parts.push_back((f.is_comment ? "#" : "") + text.substr(f.range.begin, f.range.end - f.range.begin));
  return parts;
}

TEST(Folding, BracketsOverLines) {
  EXPECT_THAT(folded("def @f() {\n  1\n}\n"), ElementsAre("\n  1\n"));
  EXPECT_THAT(folded("def @f() { 1 }\n(2,\n3)"), ElementsAre("2,\n3"));
  EXPECT_THAT(folded("def @f(\n  %x: int32) {\n  (%x,\n   1)\n}\n"),
              ElementsAre("\n  %x: int32", "\n  (%x,\n   1)\n", "%x,\n   1"));
}

TEST(Folding, CommentsThatFollowEachOther) {
  EXPECT_THAT(folded("// a\n// b\nlet %x = 1; // c\n// d\n"), ElementsAre("#// a\n// b"));
  EXPECT_THAT(folded("// a\n\n// b\n"), IsEmpty());
  EXPECT_THAT(folded("/* a\n b */ 1"), ElementsAre("#/* a\n b */"));
}

TEST(Folding, AnyText) {
  EXPECT_THAT(folded(""), IsEmpty());
  EXPECT_THAT(folded("def @f() {\n"), IsEmpty());
  EXPECT_THAT(folded("print(\"(\n\")\n}"), IsEmpty());
  EXPECT_THAT(folded("(\n[1\n)"), ElementsAre("\n[1\n"));
}

}  // namespace
}  // namespace quern::ide
