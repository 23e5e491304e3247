// textDocument/semanticTokens: a table of texts with what each token is, in full, by ranges and as deltas.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/lsp/typed_document.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;

struct TokensRow {
  const char* text;
  std::vector<std::string> tokens;  ///< `text type`, of those with a colour
};

const TokensRow kTokens[] = {
    {"let %x = 1f; // 漢🙂", {"let keyword", "%x variable", "1f number", "// 漢🙂 comment"}},
    {"/* 🙂\n  two\n\n lines */ nn.relu(%x)",
     {"/* 🙂 comment", "  two comment", " lines */ comment", "nn.relu method", "%x variable"}},
    {"\"漢\"; @f(axis=1)", {"\"漢\" string", "@f function", "axis parameter", "1 number"}},
    {"type Net { Net(w: float32) }\ndef @f[n](%a: Tensor[(n, 3), float32]) -> Net { Net(w=%a).w.0 }",
     {"type keyword", "Net type", "Net enumMember", "w property", "float32 type", "def keyword",
      "@f function", "n typeParameter", "%a variable", "Tensor type", "n typeParameter", "3 number",
      "float32 type", "Net type", "Net enumMember", "w property", "%a variable", "w property",
      ".0 property"}},
    {"[i < 2] => sum[k < 3] i * k",
     {"i variable", "2 number", "sum keyword", "k variable", "3 number", "i variable", "k variable"}},
    {"import \"🙂.relay\" as m\n@m.f(1);\nstatic @s(n) { n }",
     {"import keyword", "\"🙂.relay\" string", "as keyword", "m namespace", "@m namespace", "f function",
      "1 number", "static keyword", "@s macro", "n parameter", "n parameter"}},
    {"let %x = (\n\"half", {"let keyword", "%x variable", "\"half string"}},
    {"", {}},
};

/// `text type` of each token that the data tell of.
std::vector<std::string> decoded(const TypedDocument<json>& document, const json& data, const json& legend) {
  std::vector<std::string> all;
  lsp::Position at{0, 0};
  EXPECT_EQ(data.size() % 5, 0u);
  for (size_t i = 0; i + 4 < data.size(); i += 5) {
    const uint32_t lines = data[i], characters = data[i + 1], length = data[i + 2];
    at = {at.line + lines, lines ? characters : at.character + characters};
    const json range = {{"start", {{"line", at.line}, {"character", at.character}}},
                        {"end", {{"line", at.line}, {"character", at.character + length}}}};
    all.push_back(document.at(range) + " " + legend.at(data[i + 3].get<size_t>()).get<std::string>());
    EXPECT_EQ(data[i + 4], 0);
  }
  return all;
}

json legend_of_server() {
  Client<json> client;
  return client.initialize()["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
}

TEST(LspSemanticTokens, Table) {
  const json legend = legend_of_server();
  std::vector<std::string> texts;
  for (const TokensRow& row : kTokens) texts.emplace_back(row.text);
  EachClient<json>().open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string&) {
    const json data = document.ask("textDocument/semanticTokens/full").at("data");
    EXPECT_EQ(decoded(document, data, legend), kTokens[i].tokens);
    const json all = document.range(0, static_cast<uint32_t>(document.text.size()));
    const json whole = document.ask("textDocument/semanticTokens/range", {{"range", all}}).at("data");
    EXPECT_EQ(whole, data);
  });
}

TEST(LspSemanticTokens, OfARangeThoseThatTouchIt) {
  const json legend = legend_of_server();
  EachClient<json>().open(
      {"let %a = 1;\n/* 🙂 */ let %b = 2;\nlet %c = 3;\n"},
      [&](const TypedDocument<json>& document, size_t, const std::string&) {
        const auto begin = static_cast<uint32_t>(document.text.find("%b"));
        const json data =
            document.ask("textDocument/semanticTokens/range", {{"range", document.range(begin, begin + 4)}});
        EXPECT_EQ(decoded(document, data.at("data"), legend), std::vector<std::string>{"%b variable"});
      });
}

json after_delta(json data, const json& delta) {
  if (delta.contains("data")) return delta["data"];
  for (const json& edit : delta.at("edits")) {
    const auto start = edit.at("start").get<size_t>(), count = edit.at("deleteCount").get<size_t>();
    if (start + count > data.size()) return "an edit outside of the data";
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(start);
    data.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    const json added = edit.value("data", json::array());
    data.insert(data.begin() + static_cast<std::ptrdiff_t>(start), added.begin(), added.end());
  }
  return data;
}

TEST(LspSemanticTokens, DeltasMakeTheTokensOfTheText) {
  Client<json> client;
  client.initialize();
  const std::string uri = "untitled:1";
  const std::vector<std::string> lines{"let %x = 1;", "/* a\nb */", "@f(%x);", "nn.relu(%x)",
                                       "def @f(%a) { %a }"};
  std::mt19937 random(7);
  auto text = [&] {
    std::string all;
    for (size_t i = 0; i < 1 + random() % 6; ++i) all += lines[random() % lines.size()] + "\n";
    return all;
  };
  client.open(uri, 1, text());
  const json document = {{"uri", uri}};
  json known = client.call("textDocument/semanticTokens/full", {{"textDocument", document}})["result"];
  for (int version = 2; version < 40; ++version) {
    client.change(uri, version, json::array({json{{"text", text()}}}));
    const json delta =
        client.call("textDocument/semanticTokens/full/delta",
                    {{"textDocument", document}, {"previousResultId", known["resultId"]}})["result"];
    const json data = after_delta(known["data"], delta);
    known = client.call("textDocument/semanticTokens/full", {{"textDocument", document}})["result"];
    ASSERT_EQ(data, known["data"]) << delta;
    // The same text again: nothing to do. What is not known any more brings all.
    const json same =
        client.call("textDocument/semanticTokens/full/delta",
                    {{"textDocument", document}, {"previousResultId", known["resultId"]}})["result"];
    EXPECT_EQ(same["edits"], json::array());
    const json lost = client.call("textDocument/semanticTokens/full/delta",
                                  {{"textDocument", document}, {"previousResultId", "0"}})["result"];
    EXPECT_EQ(lost["data"], known["data"]);
    known["resultId"] = lost["resultId"];
  }
}

}  // namespace
}  // namespace quern::lsp_test
