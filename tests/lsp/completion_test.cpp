// textDocument/completion, its resolve, and signatureHelp: a table of texts with a cursor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lsp/typed_document.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct CompletionRow {
  const char* text;
  const char* label;    ///< of an item
  const char* after;    ///< the text with it
  const char* detail;   ///< of it; null: whatever
  const char* missing;  ///< what is not offered; may be null
};

const CompletionRow kCompletions[] = {
    // What the word is that goes, with its sigil and behind other characters.
    {"let %x = 1f; /* 漢🙂 */ %$0", "%x", "let %x = 1f; /* 漢🙂 */ %x", "float32", "%y"},
    {"let %image = 1f;\n\"🙂\"; %im$0ga + 1f", "%image", "let %image = 1f;\n\"🙂\"; %image + 1f",
     "float32", nullptr},
    {"def @twice(%a: float32) { %a }\n// é\n@tw$0(1f)", "@twice",
     "def @twice(%a: float32) { %a }\n// é\n@twice(1f)", nullptr, nullptr},
    {"/* 漢 */ nn.re$0(1f)", "nn.relu", "/* 漢 */ nn.relu(1f)", nullptr, nullptr},
    {"dens$0", "nn.dense", "nn.dense", nullptr, nullptr},
    {"nn.conv2d(%x, %w, str$0)", "strides=", "nn.conv2d(%x, %w, strides=)", nullptr, nullptr},
    // What follows the cursor: definitions are seen, statements are not.
    {"@la$0;\ndef @later(%a: int32) { %a }", "@later", "@later;\ndef @later(%a: int32) { %a }",
     "@later: fn (int32) -> int32", nullptr},
    {"%$0;\nlet %later = 1;", nullptr, nullptr, nullptr, "%later"},
    {"let %x = 1;\ndef @f(%a: int32) { %$0 }", "%a", "let %x = 1;\ndef @f(%a: int32) { %a }", "int32", "%x"},
    // What the checker knows of earlier statements, also where the text is broken.
    {"let %h = nn.softmax(ones((2, 3)));\nlet %k = (;\nnn.relu(%$0", "%h",
     "let %h = nn.softmax(ones((2, 3)));\nlet %k = (;\nnn.relu(%h", "Tensor[(2, 3), float32]", nullptr},
    {"let %a = { let %h = 1; 2f };\nlet %h = { let %h = 1; 2f };\n%$0", "%h",
     "let %a = { let %h = 1; 2f };\nlet %h = { let %h = 1; 2f };\n%h", "float32", nullptr},
    // Nothing in comments and strings.
    {"let %x = 1; // %$0", nullptr, nullptr, nullptr, "%x"},
    {"", nullptr, nullptr, nullptr, "%x"},
};

TEST(LspCompletion, PutsItemsInThePlaceOfTheWord) {
  std::vector<std::string> texts;
  for (const CompletionRow& row : kCompletions) texts.emplace_back(row.text);
  EachClient<json>().open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string& end) {
    const CompletionRow& row = kCompletions[i];
    document.client.diagnostics(document.uri, 1);  // what the check came to is known by then
    const json list = document.ask("textDocument/completion");
    std::string last;
    bool found = false;
    for (const json& item : list.at("items")) {
      EXPECT_LT(last, item.at("sortText"));
      last = item.at("sortText");
      EXPECT_FALSE(item.contains("insertTextFormat"));
      EXPECT_NE(item.at("label"), row.missing ? row.missing : "");
      if (!row.label || item.at("label") != row.label) continue;
      found = true;
      EXPECT_EQ(document.after(json::array({item.at("textEdit")})), with_ends(row.after, end));
      if (row.detail) {
        EXPECT_EQ(item.value("detail", ""), row.detail);
      }
    }
    EXPECT_EQ(found, row.label != nullptr) << list;
  });
}

json item_of(const json& list, const std::string& label) {
  for (const json& item : list.at("items"))
    if (item.at("label") == label) return item;
  ADD_FAILURE() << label << " is not in " << list;
  return json::object();
}

TEST(LspCompletion, ResolveBringsTheDocumentation) {
  Client<json> client;
  client.initialize();
  const std::string uri = "untitled:1";
  client.open(uri, 1, "/// Two of it.\ndef @twice(%a: float32) { %a + %a }\n@twi");
  const json params = {{"textDocument", {{"uri", uri}}}, {"position", {{"line", 2}, {"character", 4}}}};
  const json item = item_of(client.call("textDocument/completion", params)["result"], "@twice");
  EXPECT_FALSE(item.contains("documentation"));
  const json resolved = client.call("completionItem/resolve", item)["result"];
  EXPECT_EQ(resolved["documentation"], json({{"kind", "markdown"}, {"value", "Two of it."}}));
  client.close(uri);
  EXPECT_EQ(client.call("completionItem/resolve", item)["result"], item);
  EXPECT_EQ(client.call("completionItem/resolve", {{"label", "x"}})["error"]["code"], -32602);
  EXPECT_EQ(client.call("textDocument/completion", params)["result"], json());
}

TEST(LspCompletion, SnippetsOnlyWhereTheClientHasThem) {
  Client<json> client;
  client.initialize({{"textDocument", {{"completion", {{"completionItem", {{"snippetSupport", true}}}}}}}});
  client.open("untitled:1", 1, "nn.rel;\nnn.rel(1f);\nif");
  auto inserted = [&](int line, int character, const std::string& label) {
    const json params = {{"textDocument", {{"uri", "untitled:1"}}},
                         {"position", {{"line", line}, {"character", character}}}};
    const json item = item_of(client.call("textDocument/completion", params)["result"], label);
    EXPECT_EQ(item.value("insertTextFormat", 1) == 2,
              item["textEdit"]["newText"].get<std::string>().find('$') != std::string::npos);
    return item["textEdit"]["newText"].get<std::string>();
  };
  EXPECT_EQ(inserted(0, 6, "nn.relu"), "nn.relu($0)");
  EXPECT_EQ(inserted(1, 6, "nn.relu"), "nn.relu");
  EXPECT_EQ(inserted(2, 2, "if"), "if ($1) { $2 } else { $0 }");
}

struct CallRow {
  const char* text;
  const char* active;    ///< null: no call; "": past the last parameter
  const char* expected;  ///< what the active one takes here, where that is more than its own text
};

const CallRow kCalls[] = {
    {"let %x = ones((8, 784));\n/* 🙂 */ nn.dense(%x, $0)", "%weight: Tensor[(o, k), wt]",
     "%weight: Tensor[(o, 784), float32]"},
    {"let %x = nn.softmax(ones((8, 784)));\nnn.dense(%x, $0", "%weight: Tensor[(o, k), wt]",
     "%weight: Tensor[(o, 784), float32]"},
    {"def @f(%漢: int32, %b: float32) -> int32 { 1 }\n@f(1, $0)", "%b: float32", nullptr},
    {"nn.relu(%x, $0)", "", nullptr},
    {"nn.relu(%x)$0", nullptr, nullptr},
    {"def @later_use() { @g($0 }\ndef @g(%k: int32) { %k }", "%k: int32", nullptr},
};

TEST(LspSignatureHelp, ShowsTheActiveParameter) {
  std::vector<std::string> texts;
  for (const CallRow& row : kCalls) texts.emplace_back(row.text);
  const json offsets = {
      {"textDocument",
       {{"signatureHelp",
         {{"signatureInformation", {{"parameterInformation", {{"labelOffsetSupport", true}}}}}}}}}};
  for (const bool has_offsets : {false, true}) {
    EachClient<json>(has_offsets ? offsets : json::object())
        .open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string&) {
          const CallRow& row = kCalls[i];
          document.client.diagnostics(document.uri, 1);
          const json help = document.ask("textDocument/signatureHelp");
          ASSERT_EQ(help.is_null(), row.active == nullptr) << help;
          if (help.is_null()) return;
          const json signature = help["signatures"][0];
          const auto& parameters = signature["parameters"];
          const size_t active = help["activeParameter"];
          ASSERT_EQ(active == parameters.size(), std::string(row.active).empty()) << help;
          if (active == parameters.size()) return;
          const auto line = signature["label"].get<std::string>();
          json label = parameters[active]["label"];
          if (has_offsets) {
            const lsp::Positions in(line, lsp::PositionEncoding::Utf16);
            const uint32_t begin = in.offset({0, label[0]}), last = in.offset({0, label[1]});
            label = line.substr(begin, last - begin);
          }
          EXPECT_EQ(label, row.active);
          const json told = parameters[active].value("documentation", json::object());
          if (row.expected)
            EXPECT_THAT(told.value("value", ""), HasSubstr(row.expected));
          else
            EXPECT_TRUE(told.empty()) << told;
        });
  }
}

}  // namespace
}  // namespace quern::lsp_test
