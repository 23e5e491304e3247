#include "frontend/text/text_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace quern {
namespace {

/// `open(a, b)`, or one item per line.
void list(TextLayout& out, const std::vector<std::string>& items) {
  out.open();
  out.text("(");
  out.indent();
  for (size_t i = 0; i < items.size(); ++i) {
    out.line(i == 0 ? "" : " ");
    out.text(items[i]);
    if (i + 1 < items.size()) out.text(",");
  }
  out.if_broken(",");
  out.dedent();
  out.line("");
  out.text(")");
  out.close();
}

TEST(TextLayoutTest, AllLinesOfAGroupEndOrNone) {
  TextLayout out;
  list(out, {"aa", "bb"});
  EXPECT_EQ(out.render(8), "(aa, bb)");
  EXPECT_EQ(out.render(7), "(\n  aa,\n  bb,\n)");
  EXPECT_EQ(out.render(7, "\r\n"), "(\r\n  aa,\r\n  bb,\r\n)");
}

TEST(TextLayoutTest, WhatFollowsAGroupCountsUpToTheNextLine) {
  TextLayout out;
  list(out, {"a", "b"});
  out.text("cc");
  list(out, {"d", "e"});
  EXPECT_EQ(out.render(9), "(a, b)cc(\n  d,\n  e,\n)");
  EXPECT_EQ(out.render(8), "(\n  a,\n  b,\n)cc(\n  d,\n  e,\n)");
}

TEST(TextLayoutTest, ATightPartEndsLinesLast) {
  TextLayout out;
  list(out, {"a", "b"});
  out.open_tight();
  out.text("cc");
  list(out, {"d", "e"});
  out.close_tight();
  EXPECT_EQ(out.render(14), "(a, b)cc(d, e)");
  EXPECT_EQ(out.render(13), "(\n  a,\n  b,\n)cc(d, e)");
  EXPECT_EQ(out.render(8), "(\n  a,\n  b,\n)cc(\n  d,\n  e,\n)");
}

TEST(TextLayoutTest, RowsStandOnLinesIfEachFitsOne) {
  const auto blocks = [](TextLayout& out) {
    out.open_rows();
    for (const char* head : {"a", "b"}) {
      if (*head == 'b') out.row_line();
      out.text(head);
      out.text(" {");
      out.indent();
      out.line();
      out.text("12345");
      out.dedent();
      out.line();
      out.text("}");
    }
    out.close();
  };
  TextLayout out, behind;
  blocks(out);
  EXPECT_EQ(out.render(23), "a { 12345 } b { 12345 }");
  EXPECT_EQ(out.render(22), "a { 12345 }\nb { 12345 }");
  EXPECT_EQ(out.render(10), "a {\n  12345\n} b {\n  12345\n}");
  behind.text("x = ");
  blocks(behind);
  EXPECT_EQ(behind.render(22), "x = a {\n  12345\n} b {\n  12345\n}");
}

TEST(TextLayoutTest, AHangingGroupBreaksItsLineIfTheRestThenFits) {
  TextLayout out;
  out.open_hanging();
  out.text("head =>");
  out.indent();
  out.line();
  out.text("f");
  list(out, {"aa", "bb"});
  out.dedent();
  out.close();
  EXPECT_EQ(out.render(17), "head => f(aa, bb)");
  EXPECT_EQ(out.render(16), "head =>\n  f(aa, bb)");
  EXPECT_EQ(out.render(10), "head => f(\n  aa,\n  bb,\n)");
  EXPECT_EQ(out.render(9), "head =>\n  f(\n    aa,\n    bb,\n  )");
}

TEST(TextLayoutTest, HardLinesBreakEveryGroupAroundThem) {
  TextLayout out;
  out.open();
  out.text("a");
  out.line();
  out.open();
  out.text("b");
  out.hard_line(true);
  out.text("c");
  out.close();
  out.close();
  EXPECT_EQ(out.render(80), "a\nb\n\nc");
}

TEST(TextLayoutTest, FillLinesEndOneByOne) {
  TextLayout out;
  out.open();
  for (int i = 0; i < 7; ++i) {
    if (i > 0) out.fill_line();
    out.text("xx");
  }
  out.close();
  EXPECT_EQ(out.render(8), "xx xx xx\nxx xx xx\nxx");
}

TEST(TextLayoutTest, MarginTextsBreakNothing) {
  TextLayout out;
  list(out, {"aa", "bb"});
  out.margin_text("  // long");
  EXPECT_EQ(out.render(8), "(aa, bb)  // long");
}

TEST(TextLayoutTest, WidthIsInCharacters) {
  TextLayout out;
  list(out, {"ää", "öö"});
  EXPECT_EQ(out.render(8), "(ää, öö)");
}

// A hole is where the text after it is, and takes no part in how lines end.
TEST(TextLayoutTest, LinesOfHoles) {
  TextLayout out;
  std::vector<size_t> holes{out.hole()};
  out.open();
  out.text("(");
  for (const char* item : {"aa", "bb"}) {
    out.line();
    holes.push_back(out.hole());
    out.text(item);
  }
  out.close();
  out.hard_line(true);
  holes.push_back(out.hole());
  out.text("cc");
  std::vector<uint32_t> narrow, wide;
  EXPECT_EQ(out.render(5, holes, narrow), "(\naa\nbb\n\ncc");
  EXPECT_EQ(narrow, (std::vector<uint32_t>{0, 1, 2, 4}));
  EXPECT_EQ(out.render(7, holes, wide), "( aa bb\n\ncc");
  EXPECT_EQ(wide, (std::vector<uint32_t>{0, 0, 0, 2}));
  EXPECT_EQ(out.render(7), "( aa bb\n\ncc");
}

TEST(TextLayoutTest, DeepGroupsAreLinear) {
  TextLayout out;
  constexpr int kDepth = 100'000;
  for (int i = 0; i < kDepth; ++i) {
    out.open();
    out.text("(");
    out.line("");
  }
  for (int i = 0; i < kDepth; ++i) {
    out.text(")");
    out.close();
  }
  std::string text = out.render(100);
  EXPECT_EQ(std::ranges::count(text, '('), kDepth);
}

}  // namespace
}  // namespace quern
