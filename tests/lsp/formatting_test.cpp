// textDocument/formatting, rangeFormatting and onTypeFormatting.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lsp/typed_document.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;

struct LayoutRow {
  const char* text;
  const char* whole;          ///< in its layout
  const char* at_the_cursor;  ///< with the declaration at `$0` in its layout
};

const LayoutRow kLayouts[] = {
    {"let   %x=1 ;\n\"漢🙂\" ;let %y   = $0%x+1;\n", "let %x = 1;\n\"漢🙂\";\nlet %y = %x + 1;\n",
     nullptr},
    {"let   %x=1 ; // 漢🙂\nlet %y   = $0%x+1; // 漢\n",
     "let %x = 1;  // 漢🙂\nlet %y = %x + 1;  // 漢\n",
     "let   %x=1 ;  // 漢🙂\nlet %y = %x + 1;  // 漢\n"},
    {"def @f(%a:int32){%a}\n\n\n\ndef @g($0%a:int32){\"🙂\";%a}\n",
     "def @f(%a: int32) { %a }\n\ndef @g(%a: int32) {\n  \"🙂\";\n  %a\n}\n", nullptr},
    {"let %x = 1 +;\nlet %y=$01;\n", "let %x = 1 +;\nlet %y = 1;\n", "let %x = 1 +;\nlet %y = 1;\n"},
    {"let %x = 1;\n$0", "let %x = 1;\n", "let %x = 1;\n"},
    {"$0", "", ""},
};

TEST(LspFormatting, Table) {
  std::vector<std::string> texts;
  for (const LayoutRow& row : kLayouts) texts.emplace_back(row.text);
  const json options = {{"tabSize", 8}, {"insertSpaces", false}};
  EachClient<json>().open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string& end) {
    const LayoutRow& row = kLayouts[i];
    const json edits = document.ask("textDocument/formatting", {{"options", options}});
    EXPECT_EQ(document.after(edits), with_ends(row.whole, end)) << edits;
    const json here = document.range(document.cursor, document.cursor);
    const json some = document.ask("textDocument/rangeFormatting", {{"range", here}, {"options", options}});
    if (row.at_the_cursor) {
      EXPECT_EQ(document.after(some), with_ends(row.at_the_cursor, end)) << some;
    }
  });
}

// Lines that are selected whole end where the next one begins, which is not meant.
TEST(LspFormatting, TheLineBehindASelectionIsNotInIt) {
  Client<json> client;
  client.initialize();
  client.open("untitled:1", 1, "let %x=1;\nlet %y=1;\n");
  auto edited_lines = [&](json end) {
    const json range = {{"start", {{"line", 0}, {"character", 0}}}, {"end", std::move(end)}};
    const json edits = client.call("textDocument/rangeFormatting",
                                   {{"textDocument", {{"uri", "untitled:1"}}}, {"range", range}})["result"];
    std::vector<int> lines;
    for (const json& edit : edits) lines.push_back(edit["range"]["start"]["line"]);
    return lines;
  };
  for (const int line : edited_lines({{"line", 1}, {"character", 0}})) EXPECT_EQ(line, 0);
  EXPECT_EQ(edited_lines({{"line", 4294967295u}, {"character", 0}}).back(), 1);
}

struct TypedRow {
  const char* text;
  const char* typed;  ///< what was typed last
  const char* after;
};
const TypedRow kTypedRows[] = {
    {"/* 漢🙂 */ def @f() {\n$0\n}", "\n", "/* 漢🙂 */ def @f() {\n  \n}"},
    {"def @f() {\n  \"漢🙂\"\n  }$0", "}", "def @f() {\n  \"漢🙂\"\n}"},
    {"def @f() {\n { 1 }$0", "}", "def @f() {\n { 1 }"},
    {"/* {\n$0", "\n", "/* {\n"},
};

TEST(LspFormatting, OfTheLineThatIsTyped) {
  std::vector<std::string> texts;
  for (const TypedRow& row : kTypedRows) texts.emplace_back(row.text);
  EachClient<json>().open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string& end) {
    const json params = {{"position", document.position(document.cursor)},
                         {"ch", kTypedRows[i].typed},
                         {"options", json::object()}};
    const json edits = document.ask("textDocument/onTypeFormatting", params);
    EXPECT_EQ(document.after(edits), with_ends(kTypedRows[i].after, end)) << edits;
  });
}

}  // namespace
}  // namespace quern::lsp_test
