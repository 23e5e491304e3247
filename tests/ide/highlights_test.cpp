#include "ide/highlights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

/// The places of a name, each as its line with brackets around it; what declares it with `=` behind.
std::vector<std::string> shown(const std::string& text_with_cursor) {
  const size_t cursor = text_with_cursor.find('$');
  std::string text = text_with_cursor;
  text.erase(cursor, 1);
  Session session;
  const SourceId source = session.add_source(session.make_module(), "a.relay", text);
  std::vector<std::string> lines;
  for (const Highlight& h : highlights(session, source, static_cast<uint32_t>(cursor))) {
    const size_t begin = text.rfind('\n', h.range.begin) + 1, end = text.find('\n', h.range.begin);
    std::string line = text.substr(begin, h.range.begin - begin) + "[" +
                       text.substr(h.range.begin, h.range.end - h.range.begin) + (h.declares ? "=]" : "]");
    lines.push_back(line + text.substr(h.range.end, end - h.range.end));
  }
  return lines;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Highlights, VariablesByTheirScopes) {
  EXPECT_THAT(shown("let %a = 1f;\nlet %b = { let %$a = %a + %a; %a };\n%a + %b\n"),
              ElementsAre("let %b = { let %[a=] = %a + %a; %a };", "let %b = { let %a = %a + %a; %[a] };"));
  EXPECT_THAT(shown("let %a = 1f;\nlet %b = { let %a = %$a + %a; %a };\n%a + %b\n"),
              ElementsAre("let %[a=] = 1f;", "let %b = { let %a = %[a] + %a; %a };",
                          "let %b = { let %a = %a + %[a]; %a };", "%[a] + %b"));
}

// A cursor behind a name is on it; one in a comment or on a word of the grammar is on nothing.
TEST(Highlights, WhereTheCursorIs) {
  EXPECT_THAT(shown("let %x = 1;\n%x$\n"), ElementsAre("let %[x=] = 1;", "%[x]"));
  EXPECT_THAT(shown("let %x = 1; // %$x\n"), IsEmpty());
  EXPECT_THAT(shown("l$et %x = 1;\n"), IsEmpty());
  EXPECT_THAT(shown("%$y + 1\n"), IsEmpty());
  EXPECT_THAT(shown("$"), IsEmpty());
}

TEST(Highlights, DimsIndicesAndAttributes) {
  EXPECT_THAT(
      shown("op take(%x: Tensor[(n,), t], by: int = 2) -> Tensor[(n / by,), t] { [i] => %x[i * $by] }\n"
            "take([1, 2], by=1)\n"),
      ElementsAre(
          "op take(%x: Tensor[(n,), t], [by=]: int = 2) -> Tensor[(n / by,), t] { [i] => %x[i * by] }",
          "op take(%x: Tensor[(n,), t], by: int = 2) -> Tensor[(n / [by],), t] { [i] => %x[i * by] }",
          "op take(%x: Tensor[(n,), t], by: int = 2) -> Tensor[(n / by,), t] { [i] => %x[i * [by]] }",
          "take([1, 2], [by]=1)"));
  EXPECT_THAT(shown("def @f[n](%x: Tensor[($n,), float32]) { [i < n] => %x[i] }\n"),
              ElementsAre("def @f[[n=]](%x: Tensor[(n,), float32]) { [i < n] => %x[i] }",
                          "def @f[n](%x: Tensor[([n],), float32]) { [i < n] => %x[i] }",
                          "def @f[n](%x: Tensor[(n,), float32]) { [i < [n]] => %x[i] }"));
}

// Loops of a schedule are the indices of the operator, also where the schedule stands at a call.
TEST(Highlights, LoopsOfSchedules) {
  EXPECT_THAT(shown("op twice(%x: Tensor[(n,), t]) -> Tensor[(n,), t] { [i] => %x[i] * 2 }\n"
                    "twice(ones((8,))) schedule { o, l = split($i, 4); vectorize(l, 4) }\n"),
              ElementsAre("op twice(%x: Tensor[(n,), t]) -> Tensor[(n,), t] { [[i=]] => %x[i] * 2 }",
                          "op twice(%x: Tensor[(n,), t]) -> Tensor[(n,), t] { [i] => %x[[i]] * 2 }",
                          "twice(ones((8,))) schedule { o, l = split([i], 4); vectorize(l, 4) }"));
}

TEST(Highlights, FieldsConstructorsAndSymbols) {
  EXPECT_THAT(shown("type Net { Net(w: float32) }\nlet %n = Net(w=1f);\n%n.$w\n"),
              ElementsAre("type Net { Net([w=]: float32) }", "let %n = Net([w]=1f);", "%n.[w]"));
  EXPECT_THAT(shown("type $Net { Net(w: float32) }\ndef @f(%n: Net) { %n.w }\n"),
              ElementsAre("type [Net=] { Net(w: float32) }", "def @f(%n: [Net]) { %n.w }"));
  EXPECT_THAT(shown("1 $+ 2 + add(3, 4)\n"),
              ElementsAre("1 [+] 2 + add(3, 4)", "1 + 2 [+] add(3, 4)", "1 + 2 + [add](3, 4)"));
}

// Of an imported name the part before the dot is the module's.
TEST(Highlights, ImportedNames) {
  TemporaryFolder folder;
  std::ofstream(folder / "net.relay")
      << "def @id(%x: float32) { %x }\nop twice(%x: Tensor[s, t]) -> Tensor[s, t] "
         "{ [..i] => %x[..i] * 2 }\n";
  const std::string text = "import \"net.relay\" as net\n@net.id(1f) + @net.id(2f);\nnet.twice([1f])\n";
  Session session;
  const SourceId source = session.open_file((folder / "main.relay").string(), text);
  auto places = [&](std::string_view at) {
    std::vector<std::string> found;
    for (const Highlight& h : highlights(session, source, static_cast<uint32_t>(text.find(at))))
      found.push_back(text.substr(h.range.begin, h.range.end - h.range.begin) + "@" +
                      std::to_string(h.range.begin));
    return found;
  };
  EXPECT_THAT(places("id(2f)"), ElementsAre("id@31", "id@45"));
  EXPECT_THAT(places("net.twice"), ElementsAre("net@22", "net@27", "net@41", "net@53"));
  EXPECT_THAT(places("twice(["), ElementsAre("twice@57"));
}

// In text that does not type, and beside text that does not parse.
TEST(Highlights, TextWithMistakes) {
  EXPECT_THAT(shown("let %x = ones((2,)) + ones((3,));\nlet %y = (;\n%$x(1, )\n"),
              ElementsAre("let %[x=] = ones((2,)) + ones((3,));", "%[x](1, )"));
}

// Of a body in chunks each is resolved by itself.
TEST(Highlights, LongBodies) {
  std::string text = "def @f(%p: float32) {\n";
  for (int i = 0; i < 2000; ++i) text += "  let %x" + std::to_string(i) + " = %p + 1f;\n";
  text += "  %x7 + %x1999\n}\n";
  std::string at_use = text, at_param = text;
  EXPECT_THAT(shown(at_use.replace(at_use.rfind("%x7"), 1, "%$")),
              ElementsAre("  let %[x7=] = %p + 1f;", "  %[x7] + %x1999"));
  EXPECT_EQ(shown(at_param.insert(at_param.find("%p") + 1, "$")).size(), 2001u);
}

}  // namespace
}  // namespace quern::ide
