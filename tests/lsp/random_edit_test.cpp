// Random edits, mirrored here: the server has to know the same text as one that is given all of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/lsp/client.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;

const std::string kEditedUri = "file:///tmp/random.relay";
const std::string kStart =
    "let %x = ones(shape=[2, 3]); // 漢字 🙂\r\n"
    "def @f(%a: Tensor[(2, 3), float32]) { nn.relu(%a) + 1f }\n"
    "op twice(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] * 2 }\n"
    "@f(twice(%x));\r"
    "nn.dense(%x, %x)\n";
const std::vector<std::string> kFragments = {"\n",
                                             "\r\n",
                                             "\r",
                                             " ",
                                             ";",
                                             "(",
                                             ")",
                                             "{",
                                             "}",
                                             "[",
                                             "]",
                                             "\"",
                                             "/*",
                                             "*/",
                                             "//",
                                             "é",
                                             "漢",
                                             "🙂",
                                             "🙂🙂",
                                             "%x",
                                             "%y",
                                             "@f",
                                             "1",
                                             "2f",
                                             ", ",
                                             "let %y = ",
                                             "let %x = 1;\n",
                                             "def @g(%b) { %b }\n",
                                             "op ",
                                             "nn.relu(%x)",
                                             "twice",
                                             "Tensor[(n, 3), float32]",
                                             "type T { A(int32), B }\n",
                                             "if (True) { 1 } else { 2 }",
                                             "[i < 3] => i"};

// A text as characters, each with its bytes.
class Mirror {
 public:
  explicit Mirror(std::string_view text) { insert(0, text); }

  size_t size() const { return characters_.size(); }
  std::string text() const {
    std::string all;
    for (const std::string& c : characters_) all += c;
    return all;
  }
  // No position is between CR and LF.
  size_t boundary(size_t i) const {
    return i > 0 && i < size() && characters_[i] == "\n" && characters_[i - 1] == "\r" ? i - 1 : i;
  }
  json position(size_t index) const {
    int line = 0, character = 0;
    for (size_t i = 0; i < index; ++i) {
      const std::string& c = characters_[i];
      bool ends_line = c == "\n" || (c == "\r" && !(i + 1 < size() && characters_[i + 1] == "\n"));
      character = ends_line ? 0 : character + (c.size() == 4 ? 2 : 1);
      line += ends_line;
    }
    return {{"line", line}, {"character", character}};
  }
  void replace(size_t begin, size_t end, std::string_view text) {
    characters_.erase(characters_.begin() + static_cast<std::ptrdiff_t>(begin),
                      characters_.begin() + static_cast<std::ptrdiff_t>(end));
    insert(begin, text);
  }

 private:
  void insert(size_t at, std::string_view text) {
    std::vector<std::string> added;
    for (char c : text) {
      bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
      if (continues)
        added.back() += c;
      else
        added.emplace_back(1, c);
    }
    characters_.insert(characters_.begin() + static_cast<std::ptrdiff_t>(at), added.begin(), added.end());
  }
  std::vector<std::string> characters_;
};

json random_edit(Mirror& mirror, std::mt19937& random) {
  size_t begin = mirror.boundary(random() % (mirror.size() + 1));
  size_t end = std::max(begin, mirror.boundary(std::min(mirror.size(), begin + random() % 6)));
  std::string text = random() % 4 == 0 ? "" : kFragments[random() % kFragments.size()];
  json edit = {{"range", {{"start", mirror.position(begin)}, {"end", mirror.position(end)}}}, {"text", text}};
  mirror.replace(begin, end, text);
  return edit;
}

class RandomEdits : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomEdits, LeaveTheTextThatTheClientHas) {
  constexpr int kEdits = 200, kComparedEvery = 25;
  std::mt19937 random(GetParam());
  Mirror mirror(kStart);
  Client<json> edited, fresh;
  edited.initialize();
  fresh.initialize();
  edited.open(kEditedUri, 0, kStart);
  for (int version = 1; version <= kEdits; ++version) {
    json changes = json::array();
    for (size_t i = 0, count = 1 + random() % 3; i < count; ++i)
      changes.push_back(random_edit(mirror, random));
    edited.change(kEditedUri, version, changes);
    if (version % kComparedEvery != 0) continue;
    fresh.open(kEditedUri, version, mirror.text());
    json expected = fresh.diagnostics(kEditedUri, version), found = edited.diagnostics(kEditedUri, version);
    ASSERT_FALSE(expected.is_null() || found.is_null()) << json(mirror.text());
    ASSERT_EQ(found["diagnostics"], expected["diagnostics"]) << "after edit " << version << " of\n"
                                                             << mirror.text();
    // The end of the text shows whether both have the same number of lines.
    json end = mirror.position(mirror.size());
    ASSERT_EQ(edited.hover(kEditedUri, end["line"], end["character"]),
              fresh.hover(kEditedUri, end["line"], end["character"]));
    const json anywhere = mirror.position(random() % (mirror.size() + 1));
    const json place = {{"textDocument", {{"uri", kEditedUri}}}, {"position", anywhere}};
    ASSERT_EQ(edited.call("textDocument/documentHighlight", place)["result"],
              fresh.call("textDocument/documentHighlight", place)["result"]);
    fresh.close(kEditedUri);
    fresh.diagnostics(kEditedUri, version);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEdits, ::testing::Range(1u, 6u));

}  // namespace
}  // namespace quern::lsp_test
