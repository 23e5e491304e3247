// The editor on a terminal: keys in, the screen out. A row of typed keys has those with names in braces: `{Up}`.

#include "repl/editor/editor.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/repl/editor/emulator.h"
#include "tests/repl/editor/words_assistant.h"

namespace quern::editor {
namespace {

// What terminals send for the keys of the tests.
std::string_view bytes_of(std::string_view name) {
  struct Named {
    std::string_view name, bytes;
  };
  static constexpr std::array kKeys{Named{"Up", "\x1b[A"},
                                    Named{"Down", "\x1b[B"},
                                    Named{"Right", "\x1b[C"},
                                    Named{"Left", "\x1b[D"},
                                    Named{"Home", "\x1b[H"},
                                    Named{"End", "\x1b[F"},
                                    Named{"Delete", "\x1b[3~"},
                                    Named{"PageUp", "\x1b[5~"},
                                    Named{"PageDown", "\x1b[6~"},
                                    Named{"Tab", "\t"},
                                    Named{"Shift-Tab", "\x1b[Z"},
                                    Named{"Enter", "\r"},
                                    Named{"Alt-Enter", "\x1b\r"},
                                    Named{"Backspace", "\x7f"},
                                    Named{"Escape", "\x1b[27u"},
                                    Named{"Ctrl-Right", "\x1b[1;5C"},
                                    Named{"Ctrl-Left", "\x1b[1;5D"},
                                    Named{"Alt-d",
                                          "\x1b"
                                          "d"},
                                    Named{"Alt-y", "\x1by"},
                                    Named{"F1", "\x1bOP"},
                                    Named{"Alt-<", "\x1b<"},
                                    Named{"Alt->", "\x1b>"},
                                    Named{"Paste", "\x1b[200~"},
                                    Named{"EndPaste", "\x1b[201~"}};
  for (const Named& key : kKeys)
    if (key.name == name) return key.bytes;
  return {};
}

std::string bytes_of_keys(std::string_view keys) {
  std::string bytes;
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t end = keys[i] == '{' ? keys.find('}', i + 2) : std::string_view::npos;
    const std::string_view name = end == std::string_view::npos ? "" : keys.substr(i + 1, end - i - 1);
    if (name.size() == 6 && name.starts_with("Ctrl-")) {
      bytes += static_cast<char>(name[5] & 0x1f);
      i = end;
    } else if (const std::string_view known = bytes_of(name); !known.empty()) {
      bytes += known;
      i = end;
    } else {
      bytes += keys[i];
    }
  }
  return bytes;
}

// An editor whose output is shown by an emulator.
class Desk {
 public:
  explicit Desk(int columns = 40, int rows = 10)
      : emulator(columns, rows),
        editor(assistant, history, static_cast<size_t>(columns), static_cast<size_t>(rows),
               Colours::Sixteen) {
    editor.begin();
    emulator.feed(editor.redraw());
  }

  // The last input that was ended is `submitted`.
  void type(std::string_view keys) {
    for (const Key& key : decoder.feed(bytes_of_keys(keys))) press(key);
  }
  void press(const Key& key) {
    ending = editor.take(key);
    if (ending == Ending::Submitted || ending == Ending::Dropped || ending == Ending::Closed) {
      submitted = editor.text();
      emulator.feed(editor.finish());
      if (ending == Ending::Submitted) history.add(submitted);
      editor.begin();
    }
    emulator.feed(editor.redraw());
  }

  WordsAssistant assistant;
  History history;
  Emulator emulator;
  Editor editor;
  KeyDecoder decoder;
  Ending ending = Ending::None;
  std::string submitted;
};

std::string marked(const Editor& editor) {
  std::string text = editor.text();
  text.insert(editor.cursor(), "|");
  return text;
}

struct TypedRow {
  std::string_view keys;
  std::string_view text;  ///< afterwards, with the cursor
};

TEST(Editor, TakesKeys) {
  const std::vector<TypedRow> rows{
      {"abc", "abc|"},
      {"abc{Left}{Backspace}", "a|c"},
      {"one two{Ctrl-A}{Delete}{Ctrl-E}!", "ne two!|"},
      {"one two{Ctrl-W}{Ctrl-Y}{Ctrl-Y}", "one twotwo|"},
      {"one two{Ctrl-U}x{Ctrl-U}{Ctrl-Y}{Alt-y}", "one two|"},
      {"one two{Ctrl-Left}{Alt-d}", "one |"},
      {"one{Ctrl-Left}{Ctrl-K}{Ctrl-_}", "|one"},
      {"abc{Ctrl-X}{Ctrl-U}", "|"},
      {"abc{Ctrl-X}x", "abc|"},
      // What is open goes on in the next line, indented; brackets that close stand under those that open.
      {"f(a,{Enter}b", "f(a,\n  b|"},
      {"f(a, {{Enter}g(b,{Enter}c{Enter})", "f(a, {\n  g(b,\n    c\n  )|"},
      {"f({Enter}{Enter})", "f(\n\n)|"},
      {"f({Enter}{Backspace}x", "f(\nx|"},
      {"f({Enter}a{Up}{End}b", "f(b|\n  a"},
      {"a{Alt-Enter}b{Up}{Home}x", "x|a\nb"},
      {"ab\nc", "c|"},
      // Pastes.
      {"{Paste}a\r\nb\rc\n{EndPaste}", "a\nb\nc|"},
      {"{Paste}>>> let x = (1,\n... 2)\n(1, 2)\n>>> x\n{EndPaste}", "let x = (1,\n2)\nx|"},
      {"f({Paste}\t\x1b[A{EndPaste})", "f(\t\x1b[A)|"},
      // Completion.
      {"nn.r{Tab}", "nn.relu|"},
      {"nn.c{Tab}", "nn.conv|"},
      {"nn.c{Tab}{Tab}{Enter}", "nn.conv1d|"},
      {"nn.c{Tab}2{Enter}", "nn.conv2d|"},
      {"nn.c{Tab}{Escape}x", "nn.convx|"},
      {"s{Tab}{Shift-Tab}{Enter}(", "sum(|"},
      {"s{Tab}{Tab}{Tab}{Enter}", "softmax|"},
      {"nn.c{Tab}{Left}x", "nn.conx|v"},
      {"x{Tab}", "x|"},
      {"f({Enter}{Tab}{Tab}", "f(\n      |"},
      {"f({Enter}{Tab}{Shift-Tab}", "f(\n  |"},
      // Earlier inputs.
      {"one{Enter}two{Enter}{Up}", "two|"},
      {"one{Enter}two{Enter}{Up}{Up}{Up}", "one|"},
      {"one{Enter}two{Enter}x{Up}", "x|"},
      {"one{Enter}two{Enter}o{Up}", "one|"},
      {"one{Enter}two{Enter}{Up}{Up}{Down}", "two|"},
      {"one{Enter}draft{Home}{Up}{Down}", "draft|"},
      {"a{Alt-Enter}b{Enter}x{Enter}{Up}{Up}", "a\nb|"},
      {"a{Alt-Enter}b{Enter}{Up}{Left}{Up}", "|a\nb"},
      {"one{Enter}o{Right}", "one|"},
      {"one(two, three){Enter}one(t{Ctrl-Right}", "one(two|"},
      {"one two{Enter}{Ctrl-R}tw{Right}", "one t|wo"},
      {"one{Enter}two{Enter}{Ctrl-R}o{Ctrl-R}{Left}", "|one"},
      {"one{Enter}two{Enter}{Ctrl-R}o{Ctrl-R}{Ctrl-S}{Left}", "t|wo"},
      {"one{Enter}x{Ctrl-R}zzz{Ctrl-G}", "x|"},
      {"one{Enter}two{Enter}{Ctrl-R}oq{Backspace}{Home}", "|two"},
      {"one{Enter}{Ctrl-R}on{Enter}", "|"},
      {"日本{Left}{Left}x", "x|日本"},
  };
  for (const TypedRow& row : rows) {
    Desk desk;
    desk.type(row.keys);
    EXPECT_EQ(marked(desk.editor), row.text) << row.keys;
  }
}

TEST(Editor, EndsInputs) {
  struct Case {
    std::string_view keys;
    Ending ending;
    std::string_view text;
  };
  for (const Case& c :
       {Case{"a b{Enter}", Ending::Submitted, "a b"},
        Case{"f({Enter}a){Enter}", Ending::Submitted, "f(\n  a)"},
        Case{"a +{Enter}{Enter}", Ending::Submitted, "a +\n"}, Case{"abc{Ctrl-C}", Ending::Dropped, "abc"},
        Case{"{Ctrl-D}", Ending::Closed, ""}, Case{"{Ctrl-Z}", Ending::Suspended, ""},
        Case{"one{Enter}x{Ctrl-R}on{Enter}", Ending::Submitted, "one"}}) {
    Desk desk;
    desk.type(c.keys);
    EXPECT_EQ(desk.ending, c.ending) << c.keys;
    EXPECT_EQ(desk.submitted, c.text) << c.keys;
  }
}

struct ScreenRow {
  std::string_view keys;
  std::string_view screen;
};

TEST(Editor, ShowsWhatIsTyped) {
  const std::vector<ScreenRow> rows{
      {"", ">>>"},
      {"abc", ">>> abc"},
      {"f(a,{Enter}b", ">>> f(a,\n...   b\ncall of f"},
      {"f(a){Enter}", ">>> f(a)\n>>>"},
      {"f(a{Ctrl-C}", ">>> f(a\n>>>"},
      {"nn.c{Tab}{Ctrl-C}", ">>> nn.conv\n>>>"},
      // Rows of 20 cells; the cursor behind a full one is in the next.
      {"0123456789abcdef", ">>> 0123456789abcdef"},
      {"0123456789abcdefg", ">>> 0123456789abcdef\ng"},
      {"0123456789abcde日", ">>> 0123456789abcde\n日"},
      {"0123456789abcdefg{Backspace}", ">>> 0123456789abcdef"},
      {"日本語e\u0301👍x", ">>> 日本語e\u0301👍x"},
      {"{Paste}a\tb\x1b{EndPaste}", ">>> a  b^["},
      {"one two{Enter}on", ">>> one two\n>>> one two"},
      {"a{Alt-Enter}b{Enter}a", ">>> a\n... b\n>>> a …"},
      {"nn.c{Tab}", ">>> nn.conv\n     nn.conv2d   fn…\n     nn.conv1d   fn…\n     item 0"},
      {"nn.c{Tab}{F1}", ">>> nn.conv\n     nn.conv2d   fn…\n     nn.conv1d   fn…"},
      {"one{Enter}{Ctrl-R}n", ">>> one\n>>> one\nsearch: n"},
      {"one{Enter}{Ctrl-R}x", ">>> one\n>>>\nsearch: x  nothing …"},
      {"ab{Ctrl-L}c", ">>> abc"},
  };
  for (const ScreenRow& row : rows) {
    Desk desk(20, 8);
    desk.type(row.keys);
    EXPECT_EQ(desk.emulator.text(), row.screen) << row.keys;
  }
}

TEST(Editor, ShowsMoreOfTheMenuOnATallerTerminal) {
  Desk desk(30, 3);
  desk.type("nn.c{Tab}{Down}");
  EXPECT_EQ(desk.emulator.text(), ">>> nn.conv\n     nn.conv1d   fn (Tensor) …\n     2 of 2");
  desk.emulator.resize(30, 8, false);
  desk.emulator.feed(desk.editor.resize(30, 8));
  desk.emulator.feed(desk.editor.redraw());
  EXPECT_EQ(desk.emulator.text(),
            ">>> nn.conv\n     nn.conv2d   fn (Tensor) …\n     nn.conv1d   fn (Tensor) …\n     item 1");
}

// An input that is taller than the terminal is shown around the cursor.
TEST(Editor, ShowsAPartOfATallInput) {
  Desk desk(20, 4);
  std::string pasted = "{Paste}";
  for (int i = 0; i < 100; ++i) pasted += "line " + std::to_string(i) + "\n";
  desk.type(pasted + "{EndPaste}");
  EXPECT_EQ(desk.emulator.text(), "... line 96\n... line 97\n... line 98\n... line 99");
  desk.type("{Up}{Up}{Up}{Up}");
  EXPECT_EQ(desk.emulator.text(), "... line 95\n... line 96\n... line 97\n... line 98");
  desk.type("{Alt-<}");
  EXPECT_EQ(desk.emulator.text(), ">>> line 0\n... line 1\n... line 2\n... line 3");
  desk.type("{Enter}");
  EXPECT_EQ(desk.emulator.text(), "... line 97\n... line 98\n... line 99\n>>>");
}

// The rows from the prompt on are those of a terminal on which the same is drawn at once.
void expect_full_redraw(Desk& desk, const std::string& why) {
  Editor again = desk.editor;
  again.take_away();
  Emulator other(desk.emulator.columns(), desk.emulator.rows());
  other.feed(again.redraw());
  const int above = desk.emulator.cursor_row() - other.cursor_row();
  ASSERT_GE(above, 0) << why;
  ASSERT_EQ(desk.emulator.cursor_column(), other.cursor_column()) << why << "\n" << desk.emulator.text();
  for (int i = 0; above + i < desk.emulator.rows(); ++i)
    ASSERT_EQ(desk.emulator.row(above + i), other.row(i)) << why << "\n" << desk.emulator.text();
}

/// A key that is listed twice is drawn twice as often.
const std::vector<std::string> kRandomKeys{"a",
                                           "nn.",
                                           "(",
                                           ")",
                                           "{",
                                           "}",
                                           " ",
                                           "0123456789",
                                           "日",
                                           "👍",
                                           "e\u0301",
                                           "s",
                                           "\"",
                                           "\x1b",
                                           "\xff",
                                           "{Enter}",
                                           "{Enter}",
                                           "{Alt-Enter}",
                                           "{Tab}",
                                           "{Tab}",
                                           "{Shift-Tab}",
                                           "{Up}",
                                           "{Down}",
                                           "{Left}",
                                           "{Left}",
                                           "{Right}",
                                           "{Home}",
                                           "{End}",
                                           "{Backspace}",
                                           "{Delete}",
                                           "{Ctrl-K}",
                                           "{Ctrl-U}",
                                           "{Ctrl-W}",
                                           "{Ctrl-Y}",
                                           "{Alt-y}",
                                           "{Ctrl-_}",
                                           "{Ctrl-R}",
                                           "{Ctrl-S}",
                                           "{Ctrl-G}",
                                           "{Escape}",
                                           "{Ctrl-C}",
                                           "{Ctrl-L}",
                                           "{Ctrl-T}",
                                           "{Alt-d}",
                                           "{F1}",
                                           "{PageUp}",
                                           "{PageDown}",
                                           "{Ctrl-Left}",
                                           "{Ctrl-Right}",
                                           "{Alt-<}",
                                           "{Alt->}",
                                           "{Paste}one\ntwo 日本 three four five six\n{EndPaste}"};

class RandomKeys : public testing::TestWithParam<int> {};

TEST_P(RandomKeys, LeaveTheScreenOfAFullRedraw) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  auto below = [&](size_t n) { return static_cast<int>(random() % n); };
  const char* count = std::getenv("QUERN_RANDOM_KEYS");
  const int keys = count ? std::atoi(count) : 4000;
  Desk desk(5 + below(60), 2 + below(20));
  for (int i = 0; i < keys; ++i) {
    const std::string& key = kRandomKeys[static_cast<size_t>(below(kRandomKeys.size()))];
    desk.type(key);
    for (const Key& rest : desk.decoder.flush()) desk.press(rest);
    expect_full_redraw(desk, "key " + std::to_string(i) + ": " + key);
    if (HasFatalFailure()) return;
    // A text that only grows would make every key as slow as the last.
    if (desk.editor.text().size() > 2000) desk.type("{Ctrl-C}");
    if (below(200) == 0) {
      const int columns = 5 + below(60), rows = 2 + below(20);
      desk.emulator.resize(columns, rows, below(2) == 0);
      desk.emulator.feed(desk.editor.resize(static_cast<size_t>(columns), static_cast<size_t>(rows)));
      desk.emulator.feed(desk.editor.redraw());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Editor, RandomKeys, testing::Range(0, 8));

}  // namespace
}  // namespace quern::editor
