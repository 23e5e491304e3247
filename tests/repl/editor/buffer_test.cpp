// Editing: each row is a text with the cursor (`|`), what is done, and the text after it.

#include "repl/editor/buffer.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace quern::editor {
namespace {

void load(EditBuffer& buffer, std::string marked) {
  const size_t cursor = marked.find('|');
  marked.erase(cursor, 1);
  buffer.reset(marked);
  buffer.move_to(cursor);
}

std::string marked(const EditBuffer& buffer) {
  std::string text = buffer.text();
  text.insert(buffer.cursor(), "|");
  return text;
}

void act(EditBuffer& buffer, const std::string& name) {
  using B = EditBuffer;
  static const std::map<std::string, void (*)(B&)> kActions{
      {"left", [](B& b) { b.move_left(); }},
      {"right", [](B& b) { b.move_right(); }},
      {"word-left", [](B& b) { b.move_word_left(); }},
      {"word-right", [](B& b) { b.move_word_right(); }},
      {"up", [](B& b) { b.move_up(); }},
      {"down", [](B& b) { b.move_down(); }},
      {"home", [](B& b) { b.move_line_begin(); }},
      {"end", [](B& b) { b.move_line_end(); }},
      {"bs", [](B& b) { b.erase_left(); }},
      {"del", [](B& b) { b.erase_right(); }},
      {"kill", [](B& b) { b.kill_to_line_end(); }},
      {"kill-begin", [](B& b) { b.kill_to_line_begin(); }},
      {"kill-word-left", [](B& b) { b.kill_word_left(); }},
      {"kill-blank-left", [](B& b) { b.kill_blank_word_left(); }},
      {"kill-word-right", [](B& b) { b.kill_word_right(); }},
      {"yank", [](B& b) { b.yank(); }},
      {"earlier", [](B& b) { b.yank_earlier(); }},
      {"transpose", [](B& b) { b.transpose(); }},
      {"upper", [](B& b) { b.change_case(B::Case::Upper); }},
      {"lower", [](B& b) { b.change_case(B::Case::Lower); }},
      {"capital", [](B& b) { b.change_case(B::Case::Capital); }},
      {"undo", [](B& b) { b.undo(); }},
      {"redo", [](B& b) { b.redo(); }},
  };
  if (auto found = kActions.find(name); found != kActions.end())
    found->second(buffer);
  else
    for (const char c : name) buffer.insert({&c, 1});
}

struct EditRow {
  std::string before, actions, after;
};

TEST(EditBuffer, DoesWhatIsAskedFor) {
  const std::vector<EditRow> rows{
      {"ab|c", "left", "a|bc"},
      {"|abc", "left", "|abc"},
      {"abc|", "right", "abc|"},
      {"a|日本", "right right", "a日本|"},
      {"e\u0301x|", "left left", "|e\u0301x"},
      {"👨‍👩‍👧|", "bs", "|"},
      {"e\u0301|", "bs", "|"},
      {"|🇩🇪🇫🇷", "del", "|🇫🇷"},
      {"nn.conv2d(%x)|", "word-left", "nn.conv2d(%|x)"},
      {"nn.conv2d(%x)|", "word-left word-left", "nn.|conv2d(%x)"},
      {"|nn.conv2d", "word-right word-right", "nn.conv2d|"},
      {"abc\nde|f\nghijk", "up", "ab|c\ndef\nghijk"},
      {"abcd|\ne\nfghi", "down down", "abcd\ne\nfghi|"},
      {"abcd|\ne\nfghi", "down left down", "abcd\ne\n|fghi"},
      {"日本語|\nabcdefgh", "down", "日本語\nabcdef|gh"},
      {"ab\ncd|ef\ngh", "home", "ab\n|cdef\ngh"},
      {"ab\ncd|ef\ngh", "end", "ab\ncdef|\ngh"},
      {"ab\n|cd", "bs", "ab|cd"},
      {"ab|\ncd", "del", "ab|cd"},
      {"one tw|o\nthree", "kill", "one tw|\nthree"},
      {"one two|\nthree", "kill", "one two|three"},
      {"one tw|o", "kill yank yank", "one twoo|"},
      {"a b c|", "kill-word-left kill-word-left yank", "a b c|"},
      {"|a b c", "kill-word-right kill-word-right end yank", " ca b|"},
      {"%x.y+z|", "kill-blank-left", "|"},
      {"one two |", "kill-blank-left", "one |"},
      {"one|", "kill-begin x kill-begin yank earlier", "one|"},
      {"one|", "kill-begin x kill-begin yank earlier earlier", "x|"},
      {"one|", "earlier", "one|"},
      {"ab|c", "transpose", "acb|"},
      {"abc|", "transpose", "acb|"},
      {"|abc", "transpose", "|abc"},
      {"日本|", "transpose", "本日|"},
      {"|one two", "upper", "ONE| two"},
      {"|ONE two", "lower", "one| two"},
      {"|oNE two", "capital", "One| two"},
      {"|", "abc undo", "|"},
      {"|", "abc undo redo", "abc|"},
      {"abc|", "bs bs undo", "abc|"},
      {"|abc", "del del undo", "|abc"},
      {"|", "ab left c undo", "a|b"},
      {"a b|", "kill-word-left undo", "a b|"},
      {"|", "ab undo c redo", "c|"},
      {"a|", "undo", "a|"},
  };
  for (const EditRow& row : rows) {
    EditBuffer buffer;
    load(buffer, row.before);
    std::istringstream actions(row.actions);
    for (std::string action; actions >> action;) act(buffer, action);
    EXPECT_EQ(marked(buffer), row.after) << row.before << " -> " << row.actions;
  }
}

TEST(EditBuffer, TypingIsUndoneByWords) {
  EditBuffer buffer;
  for (const char c : std::string("let x = 1")) buffer.insert({&c, 1});
  std::vector<std::string> texts;
  while (buffer.undo()) texts.push_back(buffer.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"let x =", "let x", "let", ""}));
}

// Whatever is done, undoing all of it brings the beginning back, and redoing the end.
TEST(EditBuffer, EverythingIsUndone) {
  const std::vector<std::string> actions{
      "left", "right", "up", "down",           "home",  "bs",   "del",  "kill",      "yank",
      "a",    "b ",    "(x", "kill-word-left", "upper", "undo", "redo", "transpose", "earlier"};
  uint32_t seed = 1;
  auto next = [&] { return (seed = seed * 1664525 + 1013904223) >> 8; };
  for (int round = 0; round < 200; ++round) {
    EditBuffer buffer;
    load(buffer, "let %x =\n  日本 + e\u0301|");
    const std::string begin = buffer.text();
    for (int i = 0; i < 60; ++i) act(buffer, actions[next() % actions.size()]);
    while (buffer.redo()) {
    }
    const std::string end = buffer.text();
    while (buffer.undo()) {
    }
    EXPECT_EQ(buffer.text(), begin);
    while (buffer.redo()) {
    }
    EXPECT_EQ(buffer.text(), end);
  }
}

}  // namespace
}  // namespace quern::editor
