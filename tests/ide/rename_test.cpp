// Renaming: what it makes of texts, what it refuses, and that every file of the repository stays the same program.

#include "ide/rename.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "frontend/text/render.h"
#include "tests/files.h"
#include "tests/frontend/module.h"
#include "tests/ide/marked_ranges.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string with_edits(std::string text, const std::vector<SourceEdit>& edits, SourceId source) {
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    if (edit->source == source)
      text.replace(edit->range.begin, edit->range.end - edit->range.begin, edit->text);
  return text;
}

/// The text after the rename, or why it is refused.
std::string renamed(const MarkedRanges& marked, const std::string& name) {
  Session session;
  const SourceId source = session.add_source(session.make_module(), "a.relay", marked.text);
  const auto edits = rename(session, source, marked.cursor, name);
  return edits ? with_edits(marked.text, *edits, source) : edits.error().message;
}
std::string renamed(const std::string& text, const std::string& name) {
  return renamed(with_ranges(text), name);
}

TEST(Rename, WhateverTheSigil) {
  struct Row {
    const char *text, *name, *after;
  };
  const Row rows[] = {
      {"let %$0x = 1;\n%x + %x\n", "y", "let %y = 1;\n%y + %y\n"},
      {"let %x = 1;\n%$0x + %x\n", "%y", "let %y = 1;\n%y + %y\n"},
      {"def @$0f() { 1 }\n@f()\n", "g", "def @g() { 1 }\n@g()\n"},
      {"def @f() { 1 }\n@f$0()\n", "@g", "def @g() { 1 }\n@g()\n"},
      {"type Net { $0Net(w: float32) }\nNet(1f)\n", "Made", "type Net { Made(w: float32) }\nMade(1f)\n"},
      {"type Net { Net(w: float32) }\nNet(w=1f).$0w\n", "漢",
       "`漢` is no name: one is made of letters, digits and `_`"},
      {"type Net { Net(w: float32) }\nNet(w=1f).$0w\n", "v", "type Net { Net(v: float32) }\nNet(v=1f).v\n"},
      {"op twice(%x: Tensor[s, t], by: int = 2) -> Tensor[s, t] { [..i] => %x[..i] * $0by }\ntwice([1], "
       "by=3)\n",
       "times",
       "op twice(%x: Tensor[s, t], times: int = 2) -> Tensor[s, t] { [..i] => %x[..i] * times }\n"
       "twice([1], times=3)\n"},
      {"let %$0x = 1;\n%x\n", "x", "let %x = 1;\n%x\n"},
      {"let %y = (;\nlet %$0x = 1;\n%x\n", "z", "let %y = (;\nlet %z = 1;\n%z\n"},
  };
  for (const Row& row : rows)
    in_every_layout(row.text, [&](const MarkedRanges& marked) {
      std::string after = renamed(marked, row.name), expected = row.after;
      after.erase(0, after.find("é") == std::string::npos ? 0 : after.find("é") + 2);
      for (std::string* text : {&after, &expected})
        std::erase_if(*text, [](char c) { return c == '\r' || c == '\n'; });
      EXPECT_EQ(after, expected);
    });
}

TEST(Rename, WhatItRefuses) {
  struct Row {
    const char *text, *name, *why;
  };
  const Row rows[] = {
      {"$0nn.relu([1f])\n", "mine", "declared by the library"},
      {"let %x = 1;\n$0\n", "y", "no name that can be renamed"},
      {"%$00 = 1;\n%0\n", "x", "graph variable"},
      {"let %$0x = 1;\n%x\n", "@y", "the sigil of this name is `%`: write `%y`"},
      {"type $0T { A }\nA\n", "%y", "has a sigil"},
      {"let %$0x = 1;\n%x\n", "", "is empty"},
      {"let %$0x = 1;\n%x\n", "%", "is empty"},
      {"let %$0x = 1;\n%x\n", "_", "binds nothing"},
      {"let %$0x = 1;\n%x\n", "1", "begins with a digit"},
      {"let %$0x = 1;\n%x\n", "a b", "is no name"},
      {"let %$0x = 1;\n%x\n", "a.b", "is no name"},
      {"type $0T { A }\nA\n", "let", "is a word of the language"},
      {"infix \"-\" both\nop both(%x: Tensor[s, t], %y: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] + "
       "%y[..i] }\n[1] $0- [2]\n",
       "all", "is a symbol for `both`"},
      // What would capture, be captured, or be there twice.
      {"let %$0x = 1;\nlet %y = 2;\n%x + %y\n", "y", "would stand for something else"},
      {"let %x = 1;\nlet %$0y = 2;\n%x + %y\n", "x", "would stand for something else"},
      {"def @f(%a: int32) { let %$0b = 1; fn (%c: int32) { %b + %c } }\n", "c",
       "would stand for something else"},
      {"def @$0f() { 1 }\ndef @g() { 2 }\n", "g", "it makes an error at a.relay"},
      {"type A { $0B, C }\n", "C", "it makes an error at a.relay"},
      {"op $0f(%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] }\nnn.relu([1f])\n", "nn.relu",
       "would stand for something else"},
  };
  for (const Row& row : rows) EXPECT_THAT(renamed(row.text, row.name), HasSubstr(row.why)) << row.text;
}

TEST(Rename, AcrossFiles) {
  const TemporaryFolder folder;
  const std::string net = "type Net { Net(w: float32) }\ndef @f(%x: float32) { %x }\n";
  const std::string main = "import \"net.relay\" as net\nlet %n = net.Net(1f);\n@net.f(%n.w)\n";
  const std::string plain = "import \"net.relay\"\ndef @g() { @f(1f) }\n";
  std::ofstream(folder / "net.relay") << net;
  std::ofstream(folder / "plain.relay") << plain;
  Session session;
  const SourceId in_main = session.open_file((folder / "main.relay").string(), main);
  const SourceId in_plain = *session.find_file((folder / "plain.relay").string());
  const SourceId in_net = *session.find_file((folder / "net.relay").string());
  auto at = [&](const char* name) { return static_cast<uint32_t>(main.find(name)); };
  const auto edits = rename(session, in_main, at("f(%n"), "@forward");
  ASSERT_TRUE(edits) << edits.error().message;
  EXPECT_EQ(with_edits(main, *edits, in_main),
            "import \"net.relay\" as net\nlet %n = net.Net(1f);\n@net.forward(%n.w)\n");
  EXPECT_EQ(with_edits(net, *edits, in_net),
            "type Net { Net(w: float32) }\ndef @forward(%x: float32) { %x }\n");
  EXPECT_EQ(with_edits(plain, *edits, in_plain), "import \"net.relay\"\ndef @g() { @forward(1f) }\n");
  const auto alias = rename(session, in_main, at("net.f"), "n");
  ASSERT_TRUE(alias) << alias.error().message;
  EXPECT_EQ(with_edits(main, *alias, in_main),
            "import \"net.relay\" as n\nlet %n = n.Net(1f);\n@n.f(%n.w)\n");
  // A file that imports without `as` has a name of its own.
  const auto clash = rename(session, in_main, at("f(%n"), "g");
  ASSERT_FALSE(clash);
  EXPECT_THAT(clash.error().message, HasSubstr("plain.relay"));
}

/// Renames every k-th name that is declared, one after the other, and compares the programs.
void rename_and_compare(const std::string& text, const std::string& folder, size_t& count) {
  Module original(text, folder);
  if (has_errors(original.diagnostics)) return;
  const std::vector<NamePlace> names = names_in(original.session, original.source);
  // Names that are part of what a program is are compared by their mistakes alone.
  const bool has_equal_parts =
      text.find("schedule {") == std::string::npos && text.find('?') == std::string::npos;
  const size_t step = names.size() / 3 + 1;
  for (size_t i = 0; i < names.size(); i += step) {
    const auto renamable = renamable_at(original.session, original.source, names[i].range.begin);
    if (!renamable || !*renamable) continue;
    const auto edits = rename(original.session, original.source, names[i].range.begin, "zz_new");
    ASSERT_TRUE(edits) << edits.error().message << "\n" << text_at(original.session, names[i]);
    ASSERT_FALSE(edits->empty());
    // A name of a file that is imported: the files of the session alone are renamed, not those on the disk.
    if (edits->front().source != original.source || edits->back().source != original.source) continue;
    Module after(with_edits(text, *edits, original.source), folder);
    EXPECT_FALSE(has_errors(after.diagnostics)) << render_all(after.diagnostics, false, 3);
    ++count;
    const DeclarationInfo& info = original.session.info(names[i].target.declared.declaration);
    const bool in_function = info.kind == PieceKind::Def && info.name.starts_with("@") &&
                             names[i].target.kind == NameKind::Variable;
    if (!has_equal_parts || !in_function) continue;
    if (auto d = difference(original.parts(), after.parts()))
      ADD_FAILURE() << *d << "\n" << with_edits(text, *edits, original.source);
  }
}

TEST(Rename, KeepsThePrograms) {
  size_t count = 0;
  for (const std::string& file : relay_files({"examples", "tests/golden/modules", "tests/golden/types"})) {
    const fs::path path = fs::path(QUERN_SOURCE_DIR) / file;
    SCOPED_TRACE(path.string());
    rename_and_compare(read_file(path), path.parent_path().string(), count);
  }
  EXPECT_GE(count, 20u);
}

}  // namespace
}  // namespace quern::ide
