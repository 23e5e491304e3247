#include "frontend/image/text_image.h"

#include <gtest/gtest.h>

#include "session/session.h"

namespace quern {
namespace {

void expect_same_scan(const ScanOutcome& a, const ScanOutcome& b) {
  EXPECT_EQ(a.begin, b.begin);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.metadata, b.metadata);
  EXPECT_EQ(a.slash_names, b.slash_names);
  EXPECT_EQ(a.tvm, b.tvm);
  EXPECT_TRUE(a.problems.empty() && b.problems.empty());
  ASSERT_EQ(a.pieces.size(), b.pieces.size());
  for (size_t i = 0; i < a.pieces.size(); ++i) {
    EXPECT_EQ(a.pieces[i].kind, b.pieces[i].kind);
    EXPECT_EQ(a.pieces[i].name, b.pieces[i].name);
    EXPECT_EQ(a.pieces[i].range, b.pieces[i].range);
    EXPECT_EQ(a.pieces[i].doc, b.pieces[i].doc);
  }
}

void expect_image(const std::string& text) {
  const std::optional<std::string> bytes = image_of(text);
  ASSERT_TRUE(bytes) << text.substr(0, 200);
  const TextImage image(*bytes);
  const ScanOutcome scanned = scan(text);
  expect_same_scan(image.scan(), scanned);
  for (size_t i = 0; i < scanned.pieces.size(); ++i) {
    const Range range = scanned.pieces[i].range;
    const ParseOutcome made = image.parsed(i);
    const ParseOutcome parsed = parse_declaration(text.substr(range.begin, range.end - range.begin), false);
    EXPECT_TRUE(equal(made.tree.root, parsed.tree.root));
    EXPECT_EQ(dump(made.tree.root), dump(parsed.tree.root));
    EXPECT_EQ(made.tree.node_count, parsed.tree.node_count);
    EXPECT_EQ(made.spans, parsed.spans);
    EXPECT_TRUE(made.problems.empty());
  }
}

TEST(TextImageTest, HoldsTheLibrary) {
  for (const Session::LibraryFile& file : Session::builtin_library()) {
    expect_image(file.text);
    EXPECT_EQ(image_of(file.text), file.image) << file.name;
  }
}

TEST(TextImageTest, HoldsStatementsAndNothing) {
  expect_image("");
  expect_image("// a comment\n");
  expect_image("/// of x\nlet %x = [1, 2];\n%x[0] + \"\\\"\\n\";\ntype T[a] { A(a), B }\n");
}

TEST(TextImageTest, IsOfSoundTextsAlone) {
  EXPECT_FALSE(image_of("let %x = ;"));
  EXPECT_FALSE(image_of("\"open"));
  EXPECT_FALSE(image_of("#[version = \"0.0.5\"]\ndef @main() { 1 }"));
}

}  // namespace
}  // namespace quern
