// nlohmann's own parser is the oracle.

#include "lsp/parse_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

namespace quern {
namespace {

using nlohmann::json;

void expect_like_the_library(const std::string& text) {
  const json expected = json::parse(text, nullptr, false);
  const auto read = lsp::parse_json<json>(text);
  ASSERT_EQ(read.is_discarded(), expected.is_discarded()) << text;
  if (read.is_discarded()) return;
  EXPECT_EQ(read.dump(), expected.dump()) << text;
  EXPECT_EQ(read, expected) << text;
}

TEST(ParseJson, TakesWhatIsJson) {
  for (const char* text : {"null",
                           " true ",
                           "\tfalse\r\n",
                           "0",
                           "-0",
                           "7",
                           "-12",
                           "123456789012345678",
                           "12345678901234567890",
                           "18446744073709551616",
                           "-9223372036854775808",
                           "0.5",
                           "1e3",
                           "-2.5E-3",
                           "[]",
                           "{}",
                           "[ ]",
                           "{ }",
                           "[[],[[]],{}]",
                           R"([1, "a", null , {"b" : [ ] }])",
                           R"({"a":1,"b":{"a":[2]},"a":3})",
                           R"("")",
                           R"("\"\\\/\b\f\n\r\t")",
                           R"("a\u0041\u00e9\u4e2d\ud83d\ude00z")",
                           "\"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80 \x7F\"",
                           R"({"":""})"})
    expect_like_the_library(text);
}

TEST(ParseJson, RefusesWhatIsNot) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "nulll",
                           "True",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "1e999",
                           "0x1",
                           "[",
                           "]",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{",
                           "}",
                           "{1:2}",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a":1,})",
                           R"({"a" 1})",
                           R"({"a":1 "b":2})",
                           "[}",
                           "{]",
                           "1 2",
                           R"("a)",
                           R"("\x")",
                           R"("\)",
                           R"("\u12")",
                           R"("\u12G4")",
                           R"("\ud83d")",
                           R"("\ud83d\n")",
                           R"("\ud83d\u0041")",
                           R"("\ude00")",
                           "\"\n\"",
                           "\"\x01\"",
                           "\"\x80\"",
                           "\"\xC0\xAF\"",
                           "\"\xED\xA0\x80\"",
                           "\"\xF5\x80\x80\x80\"",
                           "\"\xE4\xB8\"",
                           "\xE4",
                           "'a'",
                           "[1]]",
                           "//"})
    expect_like_the_library(text);
}

TEST(ParseJson, ReadsAnyMutationLikeTheLibrary) {
  const std::string message =
      R"({"jsonrpc":"2.0","id":-12,"method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a b.relay",)"
      R"("version":1.5e1},"contentChanges":[{"range":{"start":{"line":0,"character":10},"end":null},"text":"let %x = \"\u4e2d)"
      "\xE4\xB8\xAD\\n\\ud83d\\ude00\"},{},[true,false,[]]]}}";
  constexpr std::string_view kBytes = "{}[]\",:\\u09-+.eE ntf\n\x01\x80\xE4\xB8\xF0";
  std::mt19937 random(1);
  const auto below = [&](size_t end) { return random() % end; };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = message;
    for (size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
      const size_t at = below(text.size());
      switch (below(4)) {
        case 0: text.erase(at, 1 + below(4)); break;
        case 1: text[at] = kBytes[below(kBytes.size())]; break;
        case 2: text.insert(at, 1, kBytes[below(kBytes.size())]); break;
        case 3: text.resize(at); break;
      }
    }
    expect_like_the_library(text);
    if (HasFailure()) return;
  }
}

TEST(ParseJson, RefusesWhatNestsDeep) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  expect_like_the_library(nested(1001));  // the innermost is empty
  EXPECT_TRUE(lsp::parse_json<json>(nested(1002)).is_discarded());
  EXPECT_TRUE(lsp::parse_json<json>(nested(10'000'000)).is_discarded());
  std::string objects;
  for (int i = 0; i < 1001; ++i) objects += "{\"a\":";
  objects += "1" + std::string(1001, '}');
  EXPECT_TRUE(lsp::parse_json<json>(objects).is_discarded());
}

}  // namespace
}  // namespace quern
