// Scanning after an edit gives what scanning the whole text gives: pieces, problems, and the chunks of bodies.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "frontend/parse/body_chunks.h"
#include "frontend/parse/scanner.h"

namespace quern {
namespace {

std::string long_definition(std::mt19937& random, int name) {
  std::string text = fmt::format("/// About {0}.\ndef @f{0}(%x: Tensor[(4,), float32]) {{\n", name);
  const int statements = 100 + static_cast<int>(random() % 200);
  for (int i = 0; i < statements; ++i) switch (random() % 6) {
      case 0: text += fmt::format("  let %a{} = fn (%y) {{ let %z = %y; %z }};\n", i); break;
      case 1: text += fmt::format("  let %a{} = [1f, 2f]; // ; }} comment\n", i); break;
      case 2: text += fmt::format("  print(\"; }} {}\"); /* ; {{ */\n", i); break;
      case 3: text += "  /// a line of documentation\n"; break;
      default: text += fmt::format("  let %a{} = add(%x, {}f);\n", i, random() % 100);
    }
  return text + "  %x\n}\n";
}

std::string module_text(std::mt19937& random) {
  std::string text = "let %start = 1;\n";
  for (int name = 0; name < 3; ++name) text += long_definition(random, name) + "let %between = (1, 2);\n";
  return text;
}

std::string random_words(std::mt19937& random) {
  static constexpr std::string_view kWords[] = {
      "1",  "let %q = 2;", ";",  "{",    "}",  "(",        ")", "\"",    "/*",
      "*/", "// x",        "\n", "\xff", "%x", "\ndef @g", "[", "/// d", "schedule {"};
  // Mostly something after which the text is whole.
  if (random() % 3 != 0) return random() % 2 ? "7" : "let %q = 2;\n";
  return std::string(kWords[random() % std::size(kWords)]);
}

struct Replacement {
  TextEdit edit;
  std::string words;
};

/// Of a few bytes, or of many of which only the last change: clients need not send the least.
Replacement random_edit(const std::string& text, std::mt19937& random) {
  const auto size = static_cast<uint32_t>(text.size()), begin = static_cast<uint32_t>(random() % size);
  const bool wide = random() % 8 == 0;
  const uint32_t old_end = std::min(begin + static_cast<uint32_t>(random() % (wide ? 3000 : 4)), size);
  std::string words = random_words(random);
  if (wide && random() % 4 != 0) {
    // Half of them keep the size.
    const uint32_t last = std::max(begin, old_end - std::min(old_end, 20u));
    const size_t rest = std::min<size_t>(last + (random() % 2 == 0 ? words.size() : 0), old_end);
    words = text.substr(begin, last - begin) + words + text.substr(rest, old_end - rest);
  }
  return {{begin, old_end, begin + static_cast<uint32_t>(words.size())}, words};
}

void expect_same(const ScanOutcome& got, const ScanOutcome& wanted) {
  EXPECT_EQ(got.begin, wanted.begin);
  EXPECT_EQ(got.end, wanted.end);
  ASSERT_EQ(got.pieces.size(), wanted.pieces.size());
  for (size_t i = 0; i < wanted.pieces.size(); ++i) {
    EXPECT_EQ(got.pieces[i].kind, wanted.pieces[i].kind);
    EXPECT_EQ(got.pieces[i].name, wanted.pieces[i].name);
    EXPECT_EQ(got.pieces[i].doc, wanted.pieces[i].doc) << wanted.pieces[i].name;
    EXPECT_EQ(got.pieces[i].range.begin, wanted.pieces[i].range.begin);
    EXPECT_EQ(got.pieces[i].range.end, wanted.pieces[i].range.end);
  }
  const auto sorted = [](std::vector<SyntaxProblem> problems) {
    std::vector<std::tuple<uint32_t, uint32_t, std::string>> out;
    for (const SyntaxProblem& p : problems) out.emplace_back(p.range.begin, p.range.end, p.message);
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(sorted(got.problems), sorted(wanted.problems));
}

/// They are ends of statements, in order.
void expect_marks(const ScanOutcome& outcome, std::string_view text) {
  for (const Piece& piece : outcome.pieces) {
    EXPECT_TRUE(std::ranges::is_sorted(piece.marks));
    for (const uint32_t mark : piece.marks) EXPECT_EQ(text.at(piece.range.begin + mark - 1), ';');
    const uint32_t last = piece.marks.empty() ? 0 : piece.marks.back();
    EXPECT_LE(piece.range.begin + last, piece.range.end);
  }
}

void expect_same(const BodyChunks& got, const BodyChunks& wanted) {
  EXPECT_EQ(got.balanced, wanted.balanced);
  ASSERT_EQ(got.ranges.size(), wanted.ranges.size());
  for (size_t i = 0; i < wanted.ranges.size(); ++i) {
    EXPECT_EQ(got.ranges[i].begin, wanted.ranges[i].begin);
    EXPECT_EQ(got.ranges[i].end, wanted.ranges[i].end);
  }
}

TEST(Rescan, IsTheScanOfTheWhole) {
  std::mt19937 random(5);
  size_t inside = 0;
  for (int round = 0; round < 40 && !testing::Test::HasFailure(); ++round) {
    std::string text = module_text(random);
    ScanOutcome outcome = scan(text);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      const auto [edit, words] = random_edit(text, random);
      const auto [begin, old_end, new_end] = edit;
      const std::string before = text;
      text.replace(begin, old_end - begin, words);
      SCOPED_TRACE(fmt::format("round {}, edit {}: [{}, {}) to '{}'", round, i, begin, old_end, words));
      const auto same = rescan(outcome, text, edit);
      expect_same(outcome, scan(text));
      expect_marks(outcome, text);
      inside += same.replaced.size() == 1 && same.replaced.front().marks.size() > 1;
      // What breaks the text at random is taken back, so that long definitions stay.
      if (random() % 4 == 0) continue;
      rescan(outcome, before, {begin, new_end, old_end});
      expect_same(outcome, scan(before));
      text = before;
    }
  }
  EXPECT_GT(inside, 1000u);
}

TEST(BodyChunks, AfterAnEditAreThoseOfTheWhole) {
  std::mt19937 random(6);
  for (int round = 0; round < 60 && !testing::Test::HasFailure(); ++round) {
    std::string text = long_definition(random, 1);
    text.erase(0, text.find("def"));
    text.pop_back();  // the line end is no part of the piece
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      const BodyChunks chunks = body_chunks(text);
      ASSERT_FALSE(i == 0 && chunks.ranges.empty());
      const auto [edit, words] = random_edit(text, random);
      const auto [begin, old_end, new_end] = edit;
      std::string after = text;
      after.replace(begin, old_end - begin, words);
      SCOPED_TRACE(fmt::format("round {}, edit {}: [{}, {}) to '{}'", round, i, begin, old_end, words));
      if (!chunks.ranges.empty()) expect_same(body_chunks(after, chunks, edit), body_chunks(after));
      if (random() % 4 == 0) text = after;
    }
  }
}

TEST(Scan, DocumentationIsRightAboveWhatItDescribes) {
  const ScanOutcome outcome =
      scan("/// Of f.\ndef @f() {\n  /// inside\n  1\n}\ndef @g() { 2 }\n/// Of a.\nlet %a = 1;");
  ASSERT_EQ(outcome.pieces.size(), 3u);
  EXPECT_EQ(outcome.pieces[0].doc, "Of f.\n");
  EXPECT_EQ(outcome.pieces[1].doc, "");
  EXPECT_EQ(outcome.pieces[2].doc, "Of a.\n");
}

}  // namespace
}  // namespace quern
