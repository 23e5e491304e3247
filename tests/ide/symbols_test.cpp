// What texts declare, as outlines and searches show it.

#include "ide/symbols.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ide/call_hierarchy.h"
#include "tests/ide/marked_ranges.h"

namespace quern::ide {
namespace {

using testing::ElementsAre;

void show(const std::string& text, const std::vector<Symbol>& symbols, const std::string& indent,
          std::string& out) {
  for (const Symbol& s : symbols) {
    EXPECT_TRUE(s.range.begin <= s.name_range.begin && s.name_range.end <= s.range.end) << s.name;
    const std::string name = text.substr(s.name_range.begin, s.name_range.end - s.name_range.begin);
    EXPECT_THAT(s.name, testing::HasSubstr(name));
    EXPECT_FALSE(name.empty()) << s.name;
    out += fmt::format("{}{} | {}\n", indent, s.name, s.detail);
    show(text, s.children, indent + "  ", out);
  }
}

std::string outline(const std::string& text) {
  Session session;
  const SourceId source = session.add_source(session.make_module(), "a.relay", text);
  std::string out;
  show(text, symbols(session, source), "", out);
  return out;
}

TEST(Symbols, OutlineOfEachKind) {
  const std::string text =
      "/// 漢字 😀\n"
      "def @f[n](%x: Tensor[(n,), float32]) -> float32 {\n"
      "  let %y = %x * 2f;\n  let %g = fn (%z: float32) { let %w = %z; %w };\n  %g(sum(%y))\n}\n"
      "op twice(%x: Tensor[s, t], k: int = 2) -> Tensor[s, t] { [..i] => %x[..i] * k }\n"
      "static @half(n) { n / 2 }\n"
      "type Net { Net(w: float32, b: Pair) }\n"
      "type Shade { Light, Dark(int32) }\n"
      "type Pair = (int32, int32)\n"
      "let %a = [1, 2];\n"
      "let (%b, %c) = (1, 2.0);\n"
      "test \"adds\" { let %t = 1; assert_equal(%t, 1) }\n"
      "%a + 1\n";
  const std::string expected =
      "@f | [n](%x: Tensor[(n,), float32]) -> float32\n"
      "  %x | Tensor[(n,), float32]\n"
      "  %y | Tensor[(n,), float32]\n"
      "  %g | fn (float32) -> float32\n"
      "    %z | float32\n"
      "    %w | float32\n"
      "twice | (%x: Tensor[s, t], k: int = 2) -> Tensor[s, t]\n"
      "  %x | Tensor[s, t]\n"
      "  k | int\n"
      "@half | (n)\n"
      "  n | \n"
      "Net | \n"
      "  Net | \n"
      "    w | float32\n"
      "    b | Pair\n"
      "Shade | \n"
      "  Light | \n"
      "  Dark | (int32)\n"
      "Pair | (int32, int32)\n"
      "%a | Tensor[(2,), int32]\n"
      "%b, %c | \n"
      "adds | \n"
      "  %t | \n";
  EXPECT_EQ(outline(text), expected);
}

// What does not parse has its name, and the rest its own answer.
TEST(Symbols, OutlineOfBrokenText) {
  EXPECT_THAT(outline("def @f(%x: { (\ndef @g() { 1 }\n"), testing::HasSubstr("@g | ()"));
  EXPECT_THAT(outline("def @f(%x: { (\ndef @g() { 1 }\n"), testing::StartsWith("@f | "));
  EXPECT_EQ(outline(""), "");
}

TEST(Symbols, FoundByAQuery) {
  const std::string text =
      "def @forward() { 1 }\ntype Net { Net(w: float32), Other }\nop conv.deep(%x: Tensor[s, t]) -> "
      "Tensor[s, t] { "
      "[..i] => %x[..i] }\nlet %x = 1;\n";
  auto names = [&](const char* query) {
    std::vector<std::string> found;
    for (const FoundSymbol& s : find_symbols(text, query)) {
      EXPECT_EQ(text.substr(s.range.begin, s.range.end - s.range.begin), s.name);
      found.push_back(s.name + (s.container.empty() ? "" : " in " + s.container));
    }
    return found;
  };
  EXPECT_THAT(names(""), ElementsAre("@forward", "Net", "Net in Net", "Other in Net", "conv.deep", "%x"));
  EXPECT_THAT(names("net"), ElementsAre("Net", "Net in Net"));
  EXPECT_THAT(names("deep"), ElementsAre("conv.deep"));
  EXPECT_THAT(names("fwd"), ElementsAre("@forward"));
  EXPECT_THAT(names("%x"), ElementsAre("%x"));
}

TEST(Symbols, Calls) {
  const std::string text =
      "def @a(%x: float32) { @b(%x) + @b(%x) + nn.relu(%x) }\ndef @b(%x: float32) { %x }\n"
      "let %f = fn (%x: float32) { @b(%x) };\n%f(1f) + @a(2f);\n";
  Session session;
  const SourceId source = session.add_source(session.make_module(), "a.relay", text);
  auto at = [&](const char* name) { return static_cast<uint32_t>(text.find(name)) + 1; };
  auto shown = [](const std::vector<Call>& calls) {
    std::vector<std::string> all;
    all.reserve(calls.size());
    for (const Call& call : calls)
      all.push_back(fmt::format("{} {}", call.other.symbol.name, call.places.size()));
    return all;
  };
  const auto b = call_item(session, source, at("@b"));
  ASSERT_TRUE(b);
  EXPECT_EQ(b->symbol.name, "@b");
  EXPECT_THAT(shown(incoming_calls(session, source, b->symbol.name_range.begin)),
              ElementsAre("@a 2", "%f 1"));
  const auto a = call_item(session, source, at("@a"));
  ASSERT_TRUE(a);
  EXPECT_THAT(shown(outgoing_calls(session, source, a->symbol.range)), ElementsAre("@b 2", "nn.relu 1"));
  EXPECT_THAT(shown(incoming_calls(session, source, a->symbol.name_range.begin)),
              ElementsAre("%f(1f) + @a(2f) 1"));
  const auto f = call_item(session, source, at("%f(1f)"));
  ASSERT_TRUE(f);
  EXPECT_THAT(shown(outgoing_calls(session, source, f->symbol.range)), ElementsAre("@b 1"));
  EXPECT_FALSE(call_item(session, source, at("%x")));
}

}  // namespace
}  // namespace quern::ide
