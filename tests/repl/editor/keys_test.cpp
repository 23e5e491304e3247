// Bytes of terminals, and the keys that they are.

#include "repl/editor/keys.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace quern::editor {
namespace {

std::string names(const std::vector<Key>& keys) {
  std::string all;
  for (const Key& key : keys) {
    if (!all.empty()) all += ' ';
    all += to_string(key);
    if (key.code == KeyCode::Paste) all += "<" + key.text + ">";
  }
  return all;
}

struct KeyRow {
  std::string_view bytes, keys;
};

const std::vector<KeyRow>& rows() {
  static const std::vector<KeyRow> all{
      {"a", "a"},
      {"ab c", "a b Space c"},
      {"é日👍", "é 日 👍"},
      {"\r", "Enter"},
      {"\n", "Enter"},
      {"\t", "Tab"},
      {"\x7f\x08", "Backspace Backspace"},
      {"\x01\x05\x1f", "Ctrl-A Ctrl-E Ctrl-_"},
      {"\x03\x04\x1a", "Ctrl-C Ctrl-D Ctrl-Z"},
      {std::string_view("\0", 1), "Ctrl-Space"},
      {"\x1b[A\x1b[B\x1b[C\x1b[D", "Up Down Right Left"},
      {"\x1bOA\x1bOH\x1bOF", "Up Home End"},
      {"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "Home End Home End Home End"},
      {"\x1b[2~\x1b[3~\x1b[5~\x1b[6~", "Insert Delete PageUp PageDown"},
      {"\x1b[1;5C\x1b[1;3D\x1b[1;2A\x1b[1;8B", "Ctrl-Right Alt-Left Shift-Up Ctrl-Alt-Shift-Down"},
      {"\x1b[3;5~", "Ctrl-Delete"},
      {"\x1b[Z", "Shift-Tab"},
      {"\x1b[13;3u\x1b[27;5;13~", "Alt-Enter Ctrl-Enter"},
      {"\x1b[97;5u", "Ctrl-A"},
      {"\x1bOP\x1b[15~\x1b[24~\x1b[[A", "F1 F5 F12 Up"},
      {"\x1b\r\x1b\x7f\x1b"
       "b\x1b<",
       "Alt-Enter Alt-Backspace Alt-b Alt-<"},
      {"\x1b\x1b[A", "Alt-Up"},
      {"\x1b[200~one\ntwo\x1b[A\x1b[201~x", "Paste<one\ntwo\x1b[A> x"},
      {"\x1b[99~x", "Unknown x"},
      {"\x1b[1;2;3;4;5;6;7Zx", "Shift-Tab x"},
      {"\x1b[1\x1b[A", "Unknown Up"},
      {"\xff\xc3(", "\xff \xc3 ("},
      // Answers of a terminal are no text.
      {"\x1b[?62;4;22cx\x1b[6;20;10t", "Alt-Shift-Unknown x Alt-Shift-Unknown"},
      {"\x1b_Gi=31;OK\x1b\\x", "Unknown x"},
      {"\x1b]11;rgb:1c1c/1f1f/2626\x1b\\x", "Unknown x"},
      {"\x1b]11;rgb:ff/ff/ff\ax", "Unknown x"},
      {"\x1b]x", "Alt-] x"},
      {"\x1b_x", "Alt-_ x"},
  };
  return all;
}

TEST(Keys, AreReadFromBytes) {
  for (const KeyRow& row : rows()) {
    KeyDecoder decoder;
    std::vector<Key> keys = decoder.feed(row.bytes);
    EXPECT_EQ(names(keys), row.keys);
    EXPECT_FALSE(decoder.is_waiting()) << row.keys;
  }
}

// A read may end anywhere.
TEST(Keys, MayComeByteByByte) {
  for (const KeyRow& row : rows()) {
    KeyDecoder decoder;
    std::vector<Key> keys;
    for (const char c : row.bytes)
      for (Key& key : decoder.feed({&c, 1})) keys.push_back(std::move(key));
    EXPECT_EQ(names(keys), row.keys);
  }
}

TEST(Keys, OfSequencesThatDoNotGoOn) {
  const std::vector<KeyRow> cut{
      {"\x1b", "Escape"},         {"\x1b[", "Alt-["},        {"\x1bO", "Alt-O"},
      {"\x1b\x1b", "Alt-Escape"}, {"\xe6\x97", "\xe6 \x97"}, {"\x1b[1;", "Alt-[ 1 ;"},
      {"\x1b_", "Alt-_"},         {"\x1b_Gi", "Alt-_ G i"},  {"\x1b]1", "Alt-] 1"}};
  for (const KeyRow& row : cut) {
    KeyDecoder decoder;
    EXPECT_EQ(names(decoder.feed(row.bytes)), "") << row.keys;
    EXPECT_TRUE(decoder.is_waiting()) << row.keys;
    EXPECT_EQ(names(decoder.flush()), row.keys);
    EXPECT_FALSE(decoder.is_waiting()) << row.keys;
  }
}

// A paste is waited for, however long it takes.
TEST(Keys, APasteIsOneKey) {
  KeyDecoder decoder;
  std::string pasted(1 << 20, 'x');
  EXPECT_EQ(names(decoder.feed("\x1b[200~" + pasted)), "");
  EXPECT_FALSE(decoder.is_waiting());
  EXPECT_TRUE(decoder.flush().empty());
  EXPECT_EQ(names(decoder.feed("\x1b[20")), "");
  const std::vector<Key> keys = decoder.feed("1~");
  ASSERT_EQ(keys.size(), 1);
  EXPECT_EQ(keys[0].text, pasted);
}

}  // namespace
}  // namespace quern::editor
