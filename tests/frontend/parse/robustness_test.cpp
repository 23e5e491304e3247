// Half-typed text never crashes: prefixes, deletions and random edits of real files, through everything
// `check` does.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "frontend/text/render.h"
#include "ide/hover.h"
#include "session/session.h"
#include "session/texts/embedded.h"
#include "tests/silent_errors.h"

namespace quern {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(QUERN_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".relay") continue;
    std::ifstream in(entry.path());
    std::ostringstream text;
    text << in.rdbuf();
    texts.push_back(text.str());
  }
  for (const EmbeddedFile& f : embedded_stdlib()) texts.emplace_back(f.text);
  return texts;
}

class Robustness : public testing::Test {
 protected:
  // What a text gives has to lie inside it.
  void check(const std::string& text) {
    session.set_text(source, text);
    for (const LocatedDiagnostic& d : session.check(source)) {
      ASSERT_LE(d.range.begin, d.range.end) << text;
      ASSERT_FALSE(d.message.empty());
      render_terminal(d, true);
    }
    ASSERT_EQ(silent_error(session, source), "") << text;
    for (uint32_t offset = 0; offset <= text.size(); offset += 97) ide::hover(session, source, offset);
  }
  Session session;
  SourceId source = session.add_source(session.make_module(), "half.relay", "");
};

// Forms that a walk over the syntax may fall through.
TEST_F(Robustness, WhatIsWrongHasADiagnostic) {
  const std::string head =
      "let %a = ones((4,)); def @f(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] { ";
  for (const char* body :
       {"[i < 4] => (%x + %x)[i]", "[i < 4] => ((%x, %x)[0])[i]", "[i < 4] => (%x)[i]", "[i < 4] => (-%x)[i]",
        "[i < 4] => (if (True) { %x } else { %a })[i]", "[i < 4] => ({ let %y = %x; %y })[i]",
        "[i < 4] => (fn () { %x })()[i]", "[i < 4] => (%x.0)[i]", "[i < 4] => sum[k < 4] (%x * %x)[k]",
        "[i < 4] => (%x[i] else (%x + %x)[i])", "[i < 4] => scatter[m < 4] (%x + %x)[i] at (m) += 1f",
        "[i < 4] => scan[k < i] + (%x + %x)[k]", "[i < 4] => (!ref(%x))[i]"})
    check(head + body + " }");
}

TEST_F(Robustness, Prefixes) {
  std::mt19937 random(1);
  for (const std::string& text : corpus())
    for (int i = 0; i < 60; ++i) check(text.substr(0, random() % (text.size() + 1)));
}

TEST_F(Robustness, Deletions) {
  std::mt19937 random(2);
  for (const std::string& text : corpus())
    for (int i = 0; i < 60; ++i) {
      size_t at = random() % text.size();
      std::string edited = text;
      edited.erase(at, 1 + random() % 8);
      check(edited);
    }
}

// Files that are no programs, or that programs wrote, have such lines. What is shown of them stays readable.
TEST_F(Robustness, ALineOfAMegabyte) {
  constexpr size_t kSize = 1 << 20, kMostShown = 5000;
  auto repeated = [](std::string_view piece) {
    std::string text;
    while (text.size() < kSize) text += piece;
    return text;
  };
  struct Line {
    std::string text;
    DiagnosticKind kind;
  };
  for (const Line& line : {Line{repeated("let %x = 1; ") + "%y", DiagnosticKind::UnknownName},
                           Line{"let %x = [" + repeated("1, ") + "1 1];", DiagnosticKind::MissingComma},
                           Line{"print(\"" + repeated("a"), DiagnosticKind::Unterminated},
                           Line{"/*" + repeated("a"), DiagnosticKind::Unterminated},
                           Line{repeated("("), DiagnosticKind::NestingTooDeep},
                           Line{repeated("\xC3\xA9"), DiagnosticKind::UnknownCharacter},
                           Line{repeated("name"), DiagnosticKind::UnknownName}}) {
    session.set_text(source, line.text);
    std::vector<LocatedDiagnostic> found = session.check(source);
    ASSERT_FALSE(found.empty()) << line.text.substr(0, 20);
    EXPECT_EQ(code_of(found.front().kind), code_of(line.kind)) << line.text.substr(0, 20);
    EXPECT_LT(render_terminal(found.front(), false).size(), kMostShown) << line.text.substr(0, 20);
  }
}

TEST_F(Robustness, SplicesOfOtherFiles) {
  std::vector<std::string> texts = corpus();
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string text = texts[random() % texts.size()];
    const std::string& other = texts[random() % texts.size()];
    size_t from = random() % other.size();
    text.insert(random() % text.size(), other.substr(from, random() % 60));
    check(text);
  }
}

TEST_F(Robustness, IncrementalEqualsFromScratch) {
  std::mt19937 random(4);
  std::vector<std::string> texts = corpus();
  std::string text = texts[0];
  for (int i = 0; i < 120; ++i) {
    if (i % 30 == 0) text = texts[random() % texts.size()];
    size_t at = random() % (text.size() + 1);
    if (random() % 2)
      text.insert(at, std::string(1, "(){};,%@x1 \n"[random() % 12]));
    else
      text.erase(at, 1 + random() % 3);
    session.set_text(source, text);
    Session fresh;
    SourceId other = fresh.add_source(fresh.make_module(), "half.relay", text);
    auto a = session.check(source), b = fresh.check(other);
    ASSERT_EQ(a.size(), b.size()) << text;
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(a[k].message, b[k].message) << text;
      ASSERT_EQ(a[k].range, b[k].range) << text;
    }
  }
}

}  // namespace
}  // namespace quern
