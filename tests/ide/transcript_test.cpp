// Transcripts as text: what their steps are, what matches their outputs, and how they are written anew.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ide/transcript.h"

namespace quern::ide {
namespace {

std::string described(const Transcript& transcript) {
  std::string text;
  for (const TranscriptStep& step : transcript.steps) {
    constexpr const char* kKinds[] = {"input", "command", "file"};
    text += kKinds[static_cast<size_t>(step.kind)];
    text += (step.is_fresh ? " fresh" : "") + std::string(" in ") + step.folder.string() + ": " + step.text +
            "\n";
    for (const std::string& line : transcript.expected(step)) text += "  " + line + "\n";
  }
  return text;
}

TEST(TranscriptText, IsInputsAndTheirOutputs) {
  EXPECT_EQ(described(parse_transcript("a/b.transcript",
                                       "Prose.\n"
                                       ">>> let %x = (1 +\n"
                                       "...   2)\n"
                                       ">>> %x  \n"
                                       "int32 3  \n"
                                       "\n"
                                       ">>> def @f()\n"
                                       "...\n"
                                       "error\n"
                                       "... in an output\n"
                                       ">>>\n")),
            "input fresh in a: let %x = (1 +\n  2)\n"
            "input in a: %x  \n"
            "  int32 3\n"
            "input in a: def @f()\n\n"
            "  error\n"
            "  ... in an output\n");
}

TEST(TranscriptText, IsInBlocksOfMarkdown) {
  EXPECT_EQ(described(parse_transcript("docs/b.md",
                                       "# Title\n"
                                       ">>> no input\n"
                                       "```quern\n"
                                       ">>> 1\n"
                                       "int32 1\n"
                                       "```\n"
                                       "```relay\n"
                                       ">>> no input\n"
                                       "```\n"
                                       "```quern\n"
                                       ">>> 2\n"
                                       "```\n"
                                       "```quern fresh\n"
                                       ">>> 3\n"
                                       "```\n"
                                       "```console in=..\n"
                                       "$ cd here\n"
                                       "$ quern run a.relay\n"
                                       "int32 2\n"
                                       "```\n"
                                       "```relay shows=a.relay\n"
                                       "1 + 1\n"
                                       "```\n")),
            "input fresh in docs: 1\n"
            "  int32 1\n"
            "input in docs: 2\n"
            "input fresh in docs: 3\n"
            "command in docs/..: quern run a.relay\n"
            "  int32 2\n"
            "file in docs/..: a.relay\n"
            "  1 + 1\n");
}

using Lines = std::vector<std::string>;

struct Match {
  Lines expected, actual;
  bool matches;
};

TEST(TranscriptText, MatchesLinesAndGaps) {
  const std::vector<Match> rows{
      {{}, {}, true},
      {{"a"}, {"a"}, true},
      {{"a"}, {"b"}, false},
      {{"a"}, {}, false},
      {{}, {"a"}, false},
      {{"took ... ms"}, {"took 1.5 ms"}, true},
      {{"took ... ms"}, {"took 1.5 s"}, false},
      {{"... of ..."}, {"1 of 2"}, true},
      {{"a...a"}, {"a"}, false},
      {{"...ab...b"}, {"xabab"}, true},
      {{"..."}, {"one line"}, true},
      {{"..."}, {"two", "lines"}, false},
      {{"...."}, {}, true},
      {{"...."}, {"two", "lines"}, true},
      {{"a", "....", "z"}, {"a", "b", "c", "z"}, true},
      {{"a", "....", "z"}, {"a", "b", "c"}, false},
      {{"....", "z"}, {"z", "z"}, true},
  };
  for (const Match& row : rows)
    EXPECT_EQ(output_matches(row.expected, row.actual), row.matches)
        << testing::PrintToString(row.expected) << testing::PrintToString(row.actual);
}

TEST(TranscriptText, ShowsTheLinesThatDiffer) {
  EXPECT_EQ(output_difference({"a", "b", "c"}, {"a", "x", "c", "d"}), " a\n-b\n+x\n c\n+d\n");
  EXPECT_EQ(output_difference({"a", "....", "c"}, {"a", "b", "b", "d"}), " a\n b\n b\n d\n-c\n");
}

TEST(TranscriptText, IsWrittenAnewWhereItDiffers) {
  const Transcript transcript = parse_transcript("a.transcript",
                                                 ">>> 1\n"
                                                 "took ... ms\n"
                                                 "\n"
                                                 ">>> 2\n"
                                                 "old\n"
                                                 "lines\n"
                                                 "\n"
                                                 ">>> 3\n");
  EXPECT_EQ(updated_transcript(transcript, {{"took 2 ms"}, {"new"}, {"3"}}),
            ">>> 1\n"
            "took ... ms\n"
            "\n"
            ">>> 2\n"
            "new\n"
            "\n"
            ">>> 3\n"
            "3\n");
}

// What an editor is told: where a step is, what is wrong with it, and the edit that mends it.
struct Written {
  const char *name, *text;
  std::vector<Lines> outputs;
  const char* failures;  ///< `[what it marks] message`, of each
  const char* after;     ///< the text with all edits
};

const Written kWritten[] = {
    {"all_match", ">>> 1\nint32 1\n", {{"int32 1"}}, "", ">>> 1\nint32 1\n"},
    {"another_output",
     ">>> 1\nold\nlines\n\n>>> 2\n2\n",
     {{"new"}, {"2"}},
     "[old\nlines] this shows\nnew\n",
     ">>> 1\nnew\n\n>>> 2\n2\n"},
    {"nothing_was_there",
     ">>> 1\n>>> 2\n2\n",
     {{"1"}, {"2"}},
     "[>>> 1] this shows\n1\n",
     ">>> 1\n1\n>>> 2\n2\n"},
    {"several_lines_of_input",
     ">>> (1 +\n... 2)\n\nrest",
     {{"3"}},
     "[\nrest] this shows\n3\n",
     ">>> (1 +\n... 2)\n3"},
    {"nothing_comes",
     ">>> let %x = 1\nold\n>>> 2\n2\n",
     {{}, {"2"}},
     "[old] this shows nothing\n",
     ">>> let %x = 1\n>>> 2\n2\n"},
    {"no_end_of_line", ">>> 1", {{"1"}}, "[>>> 1] this shows\n1\n", ">>> 1\n1"},
    {"crlf",
     ">>> 1\r\nold\r\n>>> 2\r\n2\r\n",
     {{"a", "b"}, {"2"}},
     "[old] this shows\na\nb\n",
     ">>> 1\r\na\r\nb\r\n>>> 2\r\n2\r\n"},
    {"what_it_cannot_hold", ">>> 1\n", {{">>> 2"}}, "[>>> 1] this shows\n>>> 2\n", ">>> 1\n"},
};

class TranscriptWritten : public testing::TestWithParam<Written> {};

TEST_P(TranscriptWritten, HasFailuresAndEdits) {
  const std::string text = GetParam().text;
  const Transcript transcript = parse_transcript("/a.transcript", text);
  const Evaluation evaluation = evaluation_of("/a.transcript", text, transcript, GetParam().outputs);
  ASSERT_EQ(evaluation.parts.size(), transcript.steps.size());
  std::string failures, after = text;
  for (auto part = evaluation.parts.rbegin(); part != evaluation.parts.rend(); ++part) {
    EXPECT_TRUE(text.substr(part->range.begin).starts_with(">>> "));
    if (!part->failure) continue;
    const auto [begin, end] = part->failure->range;
    failures = "[" + text.substr(begin, end - begin) + "] " + part->failure->message + "\n" + failures;
    if (!part->rewrite) continue;
    EXPECT_LT(part->range.begin, part->rewrite->range.begin);
    EXPECT_LE(part->rewrite->range.end, part->range.end);
    after.replace(part->rewrite->range.begin, part->rewrite->range.end - part->rewrite->range.begin,
                  part->rewrite->text);
  }
  EXPECT_EQ(failures, GetParam().failures);
  EXPECT_EQ(after, GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(Rows, TranscriptWritten, testing::ValuesIn(kWritten),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TranscriptText, CutsLongOutputsInMessages) {
  const std::string text = ">>> 1\n";
  const Evaluation evaluation =
      evaluation_of("/a.transcript", text, parse_transcript("/a.transcript", text), {Lines(23, "x")});
  EXPECT_TRUE(evaluation.parts[0].failure->message.ends_with("x\n… and 3 more lines"));
}

}  // namespace
}  // namespace quern::ide
