// What a line begins with, as it is typed: a table of texts.

#include "ide/indentation.h"

#include "tests/ide/marked_ranges.h"

namespace quern::ide {
namespace {

struct IndentationRow {
  const char *text, *after;
};
const IndentationRow kIndentationRows[] = {
    {"def @f() {\n$0\n}", "def @f() {\n  \n}"},
    {"def @f() {\n  if (True) {\n$0", "def @f() {\n  if (True) {\n    "},
    {"def @f() {\n  1\n  }$0", "def @f() {\n  1\n}"},
    {"let %x = f(\n$0a)", "let %x = f(\n  a)"},
    {"  let %x = [1,\n$02]", "  let %x = [1,\n    2]"},
    {"def @f() { 1 }\n  $0", "def @f() { 1 }\n"},
    // It begins so; outside of brackets; in comments and strings; what closes nothing.
    {"def @f() {\n  $0\n}", nullptr},
    {"let %x =\n    $01", nullptr},
    {"/* {\n$0 */", nullptr},
    {"def @f() { /* a\n$0 */ }", nullptr},
    {"}\n}$0", nullptr},
    {"\"{\n$0", nullptr},
};

TEST(Indentation, Table) {
  for (const IndentationRow& row : kIndentationRows) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
      auto laid_out = [&](const std::string& text) {
        std::string all = "// é 😀" + end;
        for (const char c : text) all += c == '\n' ? end : std::string(1, c);
        return all;
      };
      MarkedRanges marked = with_ranges(laid_out(row.text));
      SCOPED_TRACE(marked.text);
      const auto found = indentation_of_line(marked.text, marked.cursor);
      ASSERT_EQ(found.has_value(), row.after != nullptr);
      if (!found) continue;
      marked.text.replace(found->blanks.begin, found->blanks.end - found->blanks.begin, found->text);
      EXPECT_EQ(marked.text, laid_out(row.after));
    }
  }
}

}  // namespace
}  // namespace quern::ide
