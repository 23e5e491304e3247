// Random edits, mirrored here, with random requests and cancellations between them: the server has to know the same
// text as one that is given all of it, and to answer as that one does.
//
//   QUERN_RANDOM_EDITS=100000    how many edits in all

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/files.h"
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
                                             "let (%p, %q) = (%x, %x); ",
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
  // A text that has grown long loses half of it.
  constexpr size_t kLong = 3000;
  const size_t most = mirror.size() > kLong ? mirror.size() / 2 : 6;
  size_t end = std::max(begin, mirror.boundary(std::min(mirror.size(), begin + random() % most)));
  std::string text = random() % 4 == 0 ? "" : kFragments[random() % kFragments.size()];
  json edit = {{"range", {{"start", mirror.position(begin)}, {"end", mirror.position(end)}}}, {"text", text}};
  mirror.replace(begin, end, text);
  return edit;
}

// --- requests

/// What is asked about a document: at a position, of a range, of the whole.
struct Question {
  const char* method;
  enum class About { Position, Range, Document } about;
};
using About = Question::About;
constexpr Question kQuestions[] = {
    {"textDocument/hover", About::Position},
    {"textDocument/completion", About::Position},
    {"textDocument/signatureHelp", About::Position},
    {"textDocument/definition", About::Position},
    {"textDocument/typeDefinition", About::Position},
    {"textDocument/references", About::Position},
    {"textDocument/documentHighlight", About::Position},
    {"textDocument/prepareRename", About::Position},
    {"textDocument/rename", About::Position},
    {"textDocument/prepareCallHierarchy", About::Position},
    {"textDocument/selectionRange", About::Position},
    {"textDocument/documentSymbol", About::Document},
    {"textDocument/foldingRange", About::Document},
    {"textDocument/documentLink", About::Document},
    {"textDocument/codeLens", About::Document},
    {"textDocument/formatting", About::Document},
    {"textDocument/semanticTokens/full", About::Document},
    {"textDocument/semanticTokens/range", About::Range},
    {"textDocument/inlayHint", About::Range},
    {"textDocument/codeAction", About::Range},
};

json params_of(const Question& question, const json& begin, const json& end) {
  json params = {{"textDocument", {{"uri", kEditedUri}}}};
  if (question.about == About::Position) params["position"] = begin;
  if (question.about == About::Range) params["range"] = {{"start", begin}, {"end", end}};
  params["positions"] = json::array({begin});
  params["newName"] = "%other";
  params["context"] = {{"includeDeclaration", true}, {"diagnostics", json::array()}};
  params["options"] = {{"tabSize", 2}, {"insertSpaces", true}};
  return params;
}

/// What is wrong with the form of an answer: a range that ends before it begins, or an internal error.
std::string wrong_form(const json& value) {
  if (value.is_object()) {
    if (value.contains("start") && value.contains("end") && value["start"].is_object()) {
      const auto at = [](const json& p) {
        return std::pair(p.at("line").get<int>(), p.at("character").get<int>());
      };
      if (at(value["start"]) > at(value["end"]) || at(value["start"]) < std::pair(0, 0)) return value.dump();
    }
    if (value.contains("code") && value["code"] == -32603) return value.dump();
  }
  if (value.is_structured())
    for (const json& part : value)
      if (std::string wrong = wrong_form(part); !wrong.empty()) return wrong;
  return "";
}

/// A hover without the cost of a call, to which comes in time what was measured.
json without_cost(json hover) {
  constexpr std::string_view kCost = "Cost: ";
  if (!hover.is_object() || !hover.contains("contents")) return hover;
  std::string& text = hover["contents"]["value"].get_ref<std::string&>();
  if (const size_t begin = text.find(kCost); begin != std::string::npos)
    text.erase(begin, std::min(text.find('\n', begin), text.size()) - begin);
  return hover;
}

/// An answer without what depends on the order of questions.
json compared(json answer) {
  if (answer.contains("result")) answer["result"] = without_cost(answer["result"]);
  if (answer.contains("result") && answer["result"].is_object()) answer["result"].erase("resultId");
  answer.erase("id");
  return answer;
}

int edits_in_each() {
  constexpr int kShards = 5, kOtherwise = 1000;
  const char* wanted = std::getenv("QUERN_RANDOM_EDITS");
  return (wanted ? std::atoi(wanted) : kOtherwise) / kShards;
}

class RandomEdits : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomEdits, LeaveTheTextThatTheClientHas) {
  constexpr int kComparedEvery = 25;
  const int edits = edits_in_each();
  std::mt19937 random(GetParam());
  Mirror mirror(kStart);
  Client<json> edited, fresh;
  edited.initialize();
  fresh.initialize();
  edited.open(kEditedUri, 0, kStart);
  std::vector<int> asked;
  for (int version = 1; version <= edits; ++version) {
    json changes = json::array();
    for (size_t i = 0, count = 1 + random() % 3; i < count; ++i)
      changes.push_back(random_edit(mirror, random));
    edited.change(kEditedUri, version, changes);
    const auto somewhere = [&] { return mirror.boundary(random() % (mirror.size() + 1)); };
    for (size_t i = 0, count = random() % 3; i < count; ++i) {
      const Question& question = kQuestions[random() % std::size(kQuestions)];
      const size_t begin = somewhere(), end = std::max(begin, somewhere());
      asked.push_back(
          edited.ask(question.method, params_of(question, mirror.position(begin), mirror.position(end))));
      if (random() % 4 == 0) edited.notify("$/cancelRequest", {{"id", asked.back()}});
    }
    if (version % kComparedEvery != 0) continue;
    for (const int id : asked) ASSERT_EQ(wrong_form(edited.answer(id)), "") << "before edit " << version;
    asked.clear();
    fresh.open(kEditedUri, version, mirror.text());
    json expected = fresh.diagnostics(kEditedUri, version), found = edited.diagnostics(kEditedUri, version);
    ASSERT_FALSE(expected.is_null() || found.is_null()) << json(mirror.text());
    ASSERT_EQ(found["diagnostics"], expected["diagnostics"]) << "after edit " << version << " of\n"
                                                             << mirror.text();
    // The end of the text shows whether both have the same number of lines.
    json end = mirror.position(mirror.size());
    ASSERT_EQ(without_cost(edited.hover(kEditedUri, end["line"], end["character"])),
              without_cost(fresh.hover(kEditedUri, end["line"], end["character"])));
    for (const Question& question : kQuestions) {
      const size_t begin = somewhere(), last = std::max(begin, somewhere());
      const json params = params_of(question, mirror.position(begin), mirror.position(last));
      ASSERT_EQ(compared(edited.call(question.method, params)), compared(fresh.call(question.method, params)))
          << question.method << " " << params << " after edit " << version << " of\n"
          << mirror.text();
    }
    fresh.close(kEditedUri);
    fresh.diagnostics(kEditedUri, version);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEdits, ::testing::Range(1u, 6u));

// Each kind of syntax with something missing or added: a request about the place of the damage has an answer.
TEST(DamagedExamples, HaveAnAnswerToEachQuestion) {
  constexpr int kDamages = 6, kNear = 40;
  std::mt19937 random(1);
  Client<json> client;
  client.initialize();
  for (const std::string& file : relay_files({"examples"})) {
    Mirror mirror(read_file(QUERN_SOURCE_DIR "/" + file));
    client.open(kEditedUri, 0, mirror.text());
    for (int version = 1; version <= kDamages; ++version) {
      const json edit = random_edit(mirror, random);
      client.change(kEditedUri, version, json::array({edit}));
      const size_t line = edit["range"]["start"]["line"];
      for (const Question& question : kQuestions) {
        const json begin = {{"line", line}, {"character", random() % kNear}};
        const json end = {{"line", line + 1}, {"character", 0}};
        const json answer = client.call(question.method, params_of(question, begin, end));
        ASSERT_FALSE(answer.is_null()) << question.method << " " << begin << " of\n" << mirror.text();
        ASSERT_EQ(wrong_form(answer), "") << question.method << " " << begin << " of\n" << mirror.text();
      }
    }
    client.close(kEditedUri);
  }
}

}  // namespace
}  // namespace quern::lsp_test
