// Definitions, types' definitions, references and selections, by tables of marked texts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "ide/definition.h"
#include "ide/folding.h"
#include "ide/references.h"
#include "ide/selection.h"
#include "tests/ide/marked_ranges.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

using Answer = std::vector<Range> (*)(Session&, SourceId, uint32_t);

void expect_answers(Answer answer, const std::vector<const char*>& rows) {
  for (const char* row : rows)
    in_every_layout(row, [&](const MarkedRanges& marked) {
      Session session;
      const SourceId source = session.add_source(session.make_module(), "a.relay", marked.text);
      EXPECT_EQ(with_marks(marked.text, answer(session, source, marked.cursor)),
                with_marks(marked.text, marked.ranges));
    });
}

std::vector<Range> definition_ranges(Session& session, SourceId source, uint32_t offset) {
  const auto found = definition(session, source, offset);
  return found && found->source == source ? std::vector{found->name} : std::vector<Range>();
}

std::vector<Range> type_ranges(Session& session, SourceId source, uint32_t offset) {
  std::vector<Range> ranges;
  for (const DeclarationLink& link : type_definitions(session, source, offset))
    if (link.source == source) ranges.push_back(link.name);
  return ranges;
}

std::vector<Range> reference_ranges(Session& session, SourceId source, uint32_t offset) {
  std::vector<Range> ranges;
  if (const auto name = name_at(session, source, offset))
    for (const NamePlace& place : references(session, name->target))
      if (place.source == source) ranges.push_back(place.range);
  return ranges;
}

TEST(Navigation, DefinitionsInOneText) {
  expect_answers(
      definition_ranges,
      {
          "def @[|f|](%x: float32) { %x }\n@$0f(1f)\n",
          "def @[|f|](%x: float32) { %x }\n$0@f(1f)\n",
          "def @[|f|](%x: float32) { %x }\n@f$0(1f)\n",
          "def @[|f$0|](%x: float32) { %x }\n",
          "let %[|x|] = \"漢😀\"; let %y = %$0x;\n",
          "let %x = 1;\nlet %[|x|] = 2;\n%$0x\n",
          "def @f(%x: int32) { let %[|y|] = %x; fn (%x: int32) { %$0y } }\n",
          "def @f(%x: int32) { fn (%[|x|]: int32) { %$0x } }\n",
          "type Net { [|Net|](w: float32) }\n$0Net(1f)\n",
          "type [|Net|] { Net(w: float32) }\ndef @f(%n: $0Net) { %n }\n",
          "type Net { Net([|w|]: float32) }\ndef @f(%n: Net) { %n.$0w }\n",
          "type Net { Net([|w|]: float32) }\nNet($0w=1f)\n",
          "type Net { Net([|w|]: float32) }\nmatch Net(1f) { Net($0w=%a) => %a }\n",
          "type P = (int32, int32)\ndef @f(%p: P) { %p.$00 }\n",
          "op [|twice|](%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] * 2 }\n$0twice([1])\n",
          "op twice(%x: Tensor[s, t]) -> Tensor[s, t] { [..[|i|]] => %x[..$0i] * 2 }\n",
          // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
          "op twice(%x: Tensor[s, t], [|by|]: int = 2) -> Tensor[s, t] { [..i] => %x[..i] * by }\n"
          "twice([1], $0by=3)\n",
          "infix \"-\" both\nop [|both|](%x: Tensor[s, t], %y: Tensor[s, t]) -> Tensor[s, t] "
          "{ [..i] => %x[..i] + %y[..i] }\n[1] $0- [2]\n",
          "static @[|half|](n) { n / 2 }\nop f(%x: Tensor[(n,), t]) -> Tensor[(@$0half(n),), t] { "
          "[i] => %x[i] }\n",
          // Where nothing is declared, or no name stands.
          "%$0x + 1\n",
          "let %x = 1; // %$0x\n",
          "l$0et %x = 1;\n",
          "$0",
          "nn.$0relu([1f])\n",
          // Beside what does not parse, and in what does not type.
          "let %y = (;\nlet %[|x|] = 1;\n%$0x + \n",
          "let %[|x|] = ones((2,)) + ones((3,));\n%$0x\n",
      });
}

TEST(Navigation, DefinitionsOfTypes) {
  expect_answers(type_ranges, {
                                  "type [|Net|] { Net(w: float32) }\nlet %n = Net(1f);\n%$0n\n",
                                  "type [|Net|] { Net(w: float32) }\nlet %$0n = Net(1f);\n",
                                  "type [|Net|] { Net(w: float32) }\ndef @f() { let %$0n = Net(1f); %n.w }\n",
                                  "type [|Net|] { Net(w: float32) }\ndef @f(%n: Net) { $0%n }\n",
                                  "type [|Net|] { Net(w: float32) }\ndef @f(%n: $0Net) { %n }\n",
                                  "type [|Net|] { $0Net(w: float32) }\n",
                                  "type [|Net|] { Net(w: float32) }\ndef @f() -> Net { Net(1f) }\n@$0f()\n",
                                  // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
                                  "type [|In|] { In(w: float32) }\ntype Net { Net(i: In) }\n"
                                  "def @f(%n: Net) { %n.$0i }\n",
                                  "type [|A|] { A }\ntype [|B|] { B }\nlet %p = (A, B);\n%$0p\n",
                                  "type [|Pair|] = (int32, int32)\ndef @f(%p: Pair) { %$0p }\n",
                                  "let %x = [1f];\n%$0x\n",
                                  "$0\n",
                              });
}

TEST(Navigation, ReferencesInOneText) {
  expect_answers(reference_ranges,
                 {
                     "def @[|f|](%x: float32) { %x }\n@$0[|f|](1f) + @[|f|](2f)\n",
                     "let %x = 1;\nlet %[|x|] = %x;\n%[|$0x|] * %[|x|]\n",
                     "1 [|$0+|] 2 [|+|] [|add|](3, 4)\n",
                     "type Net { Net([|w|]: float32) }\nlet %n = Net([|w|]=1f);\n%n.$0[|w|]\n",
                     "def @f[[|n|]](%x: Tensor[([|$0n|],), float32]) { %x }\n",
                     "%$0x\n",
                 });
}

/// Without the outermost, which is the whole text.
std::vector<Range> selected(Session& session, SourceId source, uint32_t offset) {
  std::vector<Range> ranges = selections(session, source, offset);
  EXPECT_EQ(ranges.back(), (Range{0, static_cast<uint32_t>(session.text(source).size())}));
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_TRUE(ranges[i].begin <= ranges[i - 1].begin && ranges[i - 1].end <= ranges[i].end);
  ranges.pop_back();
  return ranges;
}

TEST(Navigation, Selections) {
  expect_answers(selected, {
                               "let %y = 1;\n[|let %x = [|f[|([|[|[|%[|$0a|]|] * %b|], 2|])|]|]|];\n",
                               "let %y = 1;\n[|/// Doc.\n[|def @f() [|{ $0 }|]|]|]\n",
                               "[|[|let %y = [|([|([|[|$0%a|] *|])|]|]|];|]\n",
                           });
}

std::vector<Range> fold_ranges(Session& session, SourceId source, uint32_t) {
  std::vector<Range> ranges;
  for (const Fold& fold : folds(session.text(source))) ranges.push_back(fold.range);
  return ranges;
}

TEST(Navigation, Folds) {
  expect_answers(fold_ranges,
                 {
                     "let %x = 1;\ndef @f([|\n  %x: int32\n|]) {[|\n  match %x {[|\n  |]}\n|]}\n",
                     "let %x = f(g([1, 2]));\n",
                     "let %x = f([|g(\n1\n)|]);\n",
                     "let %x = 1;\n\n// one[|\n// two\n/* three\n */|]\n\n// four\n%x\n",
                     "let %x = 1;\n\nimport \"a.relay\" as a[|\nimport \"b.relay\"|]\n%x\n",
                     "let %x = 1;\n#[metadata][|\n{\n}|]\n",
                     // What nothing closes hides nothing; other brackets do.
                     "let %x = 1;\ndef @f( {[| \n  %x\n|]}\n",
                     "let %s = \"(\n1\n)\";\n",
                 });
}

TEST(Navigation, AcrossFiles) {
  const TemporaryFolder folder;
  std::ofstream(folder / "net.relay") << "type Net { Net(w: float32) }\ndef @f(%x: float32) { %x }\n";
  const std::string text =
      "import \"net.relay\" as net\nlet %n = net.Net(1f);\n@net.f(%n.w) + @net.f(2f) + nn.relu(1f);\n";
  Session session;
  const SourceId source = session.open_file((folder / "main.relay").string(), text);
  auto target = [&](const char* at, uint32_t by = 0) {
    const auto found = definition(session, source, static_cast<uint32_t>(text.find(at)) + by);
    return found ? session.path(found->source).substr(session.path(found->source).rfind('/') + 1) + ":" +
                       std::string(text_at(session, SourceRange{found->source, found->name}))
                 : "";
  };
  EXPECT_EQ(target("f(%n"), "net.relay:f");
  EXPECT_EQ(target("net.f"), "main.relay:net");
  EXPECT_EQ(target("w) +"), "net.relay:w");
  EXPECT_EQ(target("\"net.relay", 3), "net.relay:");
  EXPECT_EQ(target("relu"), "nn.relay:nn.relu");
  EXPECT_EQ(target("+ @"), "elementwise.relay:add");
  const auto types = type_definitions(session, source, static_cast<uint32_t>(text.find("%n")) + 1);
  ASSERT_EQ(types.size(), 1u);
  EXPECT_TRUE(session.path(types[0].source).ends_with("net.relay"));
  // From the file that declares.
  const SourceId net = *session.find_file((folder / "net.relay").string());
  const auto name = name_at(session, net, static_cast<uint32_t>(session.text(net).find("f(")));
  ASSERT_TRUE(name);
  std::vector<std::string> places;
  for (const NamePlace& place : references(session, name->target))
    places.push_back(session.path(place.source).substr(session.path(place.source).rfind('/') + 1) + "@" +
                     std::to_string(place.range.begin));
  EXPECT_THAT(places, testing::UnorderedElementsAre("net.relay@34", "main.relay@53", "main.relay@68"));
}

}  // namespace
}  // namespace quern::ide
