// The answers about half-typed text: whatever stands in it, they come, and speak of places in it.

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>

#include "ide/brackets.h"
#include "ide/completion.h"
#include "ide/description.h"
#include "ide/signature_help.h"
#include "ide/tokens.h"
#include "tests/files.h"

namespace quern::ide {
namespace {

class Typist {
 public:
  Typist() : module_(session_.make_module()) {
    session_.check(
        session_.add_source(module_, "session", "let %x = ones((8, 784)); def @f(%a: float32) { %a }"));
  }

  void ask(std::string_view text, uint32_t offset) {
    uint32_t end = 0;
    for (const Token& token : tokens(session_, module_, text)) {
      ASSERT_LE(end, token.range.begin) << text;
      ASSERT_LT(token.range.begin, token.range.end) << text;
      end = token.range.end;
      ASSERT_LE(end, text.size()) << text;
    }
    const CompletionList list = complete(session_, module_, text, offset);
    ASSERT_LE(list.replaced.begin, list.replaced.end) << text;
    ASSERT_LE(list.replaced.end, text.size()) << text;
    if (!list.items.empty()) documentation_of(session_, module_, list.items.front());
    if (const auto help = signature_help(session_, module_, text, offset)) {
      ASSERT_LE(help->open, offset) << text;
      for (const Range& parameter : help->parameters) ASSERT_LE(parameter.end, help->line.size()) << text;
    }
    if (const auto pair = bracket_at(text, offset)) {
      ASSERT_LT(pair->bracket.begin, text.size()) << text;
    }
    describe(session_, module_, text.substr(0, offset));
  }

 private:
  Session session_;
  ModuleId module_;
};

TEST(HalfTypedAnswers, AreGivenForEveryBeginning) {
  Typist typist;
  for (const auto& file : relay_files({"examples"})) {
    const std::string text = read_file(QUERN_SOURCE_DIR "/" + file);
    for (uint32_t end = 0; end <= text.size(); end += 7)
      typist.ask(std::string_view(text).substr(0, end), end);
    if (HasFatalFailure()) return;
  }
}

TEST(HalfTypedAnswers, AreGivenWhereBytesAreMissing) {
  Typist typist;
  const std::string text = read_file(QUERN_SOURCE_DIR "/examples/capsule.relay");
  for (uint32_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged.erase(i, 1);
    typist.ask(damaged, i);
    if (HasFatalFailure()) return;
  }
}

TEST(HalfTypedAnswers, AreGivenForAnyBytes) {
  Typist typist;
  const std::string_view pieces[] = {
      "(",   ")",     "[",       "]",       "{",    "}",         "%x",         "@f",   "nn.dense(", ",",
      "=",   "\"",    "//",      "/*",      "\xff", "let ",      "def ",       "op ",  "type ",     "match ",
      "=>",  "->",    ":",       ".",       "sum[", "..",        "~",          "1.5f", "%",         "@",
      "if ", "else ", " where ", "Tensor[", "\n",   "grad(@f)(", "schedule {", "for "};
  uint32_t seed = 3;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) {
      seed = seed * 1664525 + 1013904223;
      text += pieces[(seed >> 8) % std::size(pieces)];
    }
    typist.ask(text, static_cast<uint32_t>(text.size() - (seed >> 20) % 12));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace quern::ide
