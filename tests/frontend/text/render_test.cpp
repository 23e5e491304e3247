// Diagnostics on terminals of some widths.

#include "frontend/text/render.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

LocatedDiagnostic diagnostic(std::string message, std::string_view text, Range range) {
  LocatedDiagnostic d;
  d.kind = DiagnosticKind::UnknownName;
  d.message = std::move(message);
  d.file = "a.relay";
  d.text = text;
  d.range = range;
  return d;
}

TEST(Render, MessagesGoOnOverLines) {
  LocatedDiagnostic d = diagnostic("unknown name `one`: a name is declared first", "one", {0, 3});
  d.fixes.push_back({"write `def @one` in the place of it or load a file", {}});
  EXPECT_EQ(render_terminal(d, false, 40),
            "error[Q0201]: unknown name `one`: a name\n"
            "              is declared first\n"
            "--> a.relay:1:1\n"
            "  |\n"
            "1 | one\n"
            "  | ^^^\n"
            "fix: write `def @one` in the place of it\n"
            "     or load a file\n");
  EXPECT_EQ(render_terminal(d, false).substr(0, 59),
            "error[Q0201]: unknown name `one`: a name is declared first\n");
}

TEST(Render, SourceLinesAreAsWideAsTheTerminal) {
  std::string line;
  for (int i = 0; i < 30; ++i) line += "%abc" + std::to_string(i % 10) + " + ";
  const LocatedDiagnostic d = diagnostic("m", line, {80, 85});
  EXPECT_EQ(render_terminal(d, false, 70),
            "error[Q0201]: m\n"
            "--> a.relay:1:81\n"
            "  |\n"
            "1 | …bc6 + %abc7 + %abc8 + %abc9 + %abc0 + %abc1 + %abc2 + %abc3 + %a…\n"
            "  |                                ^^^^^\n");
}

TEST(Render, BreaksLinesBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 0, 80), "one two three");
  EXPECT_EQ(wrapped("one two three four five six seven", 4, 27), "one two three four five\n    six seven");
  EXPECT_EQ(wrapped("é é é é é é é é é é é é", 0, 20), "é é é é é é é é é é\né é");
  EXPECT_EQ(wrapped("a-word-that-is-longer-than-a-line b", 0, 20), "a-word-that-is-longer-than-a-line\nb");
  EXPECT_EQ(wrapped("", 4, 80), "");
  // Beside a wide column there is room for some words.
  EXPECT_EQ(wrapped("one two three four five", 90, 80),
            "one two three four\n" + std::string(90, ' ') + "five");
}

}  // namespace
}  // namespace quern
