// The operators of Relay (relay_operators.txt) and what the library has of them; docs/relay_operators.md is the table
// (QUERN_UPDATE_GOLDENS=1 writes it).

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/files.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

struct Listed {
  std::string name, kind, text;
};

std::vector<Listed> listed_in(const std::string& text) {
  std::vector<Listed> list;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = cells.size() < 2 ? std::min(line.find(" | ", at), line.size()) : line.size();
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
    cells.resize(3);
    list.push_back({cells[0], cells[1], cells[2]});
  }
  return list;
}

/// How an operator is declared, and in which file.
struct Declared {
  bool composite;
  std::string file;
};

std::map<std::string, Declared> declared_in(const std::vector<Session::LibraryFile>& files) {
  std::map<std::string, Declared> found;
  for (const Session::LibraryFile& file : files) {
    Session session;
    const SourceId source = session.add_source(session.make_module(), file.name, file.text);
    for (auto& [id, tree] : session.trees(source)) {
      const SyntaxPtr s = tree.root;
      const bool composite = s->is(SyntaxKind::Def) && !s->text.starts_with("@");
      if (composite || s->is(SyntaxKind::Op) || s->is(SyntaxKind::ExternOp))
        found.emplace(s->text, Declared{composite, file.name});
    }
  }
  return found;
}

/// What is wrong with a line; "" for nothing.
std::string disagreement(const Listed& listed, const std::map<std::string, Declared>& library) {
  const bool there = library.contains(listed.name);
  if (listed.kind == "refused") return there ? "the library has it" : listed.text.empty() ? "no reason" : "";
  if (!there) return "the library does not have it, and no reason says why";
  return listed.kind.empty() || listed.kind == "read" ? "" : "neither read nor refused";
}

std::vector<std::string> disagreements(const std::vector<Listed>& list,
                                       const std::map<std::string, Declared>& library) {
  std::vector<std::string> found;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string wrong = disagreement(list[i], library);
    if (wrong.empty() && i > 0 && list[i - 1].name >= list[i].name) wrong = "the names are not in order";
    if (!wrong.empty()) found.push_back(fmt::format("{}: {}", list[i].name, wrong));
  }
  return found;
}

std::string page_of(const std::vector<Listed>& list, const std::map<std::string, Declared>& library) {
  std::map<std::string, int> count;
  std::string rows;
  for (const Listed& listed : list) {
    const auto declared = library.find(listed.name);
    std::string state = listed.kind, where = listed.text;
    if (declared != library.end()) {
      if (state.empty()) state = declared->second.composite ? "composite" : "defined";
      where = fmt::format("`stdlib/{}`", declared->second.file);
    }
    ++count[state];
    rows += fmt::format("| `{}` | {} | {} |\n", listed.name, state, where);
  }
  return fmt::format(
      "# The operators of Relay\n\n"
      "The {} names that TVM 0.8 to 0.15 registers as operators of Relay, without those of the accelerators "
      "that a build of\n"
      "TVM leaves out (`contrib.ethosu.*`, `contrib.gemmini.*`). [operators.md](operators.md) says what each "
      "does.\n\n"
      "| state | | |\n|---|---|---|\n"
      "| defined | {} | an `op` of the library: an index expression, or a kernel |\n"
      "| composite | {} | a `def` of the library, made of other operators |\n"
      "| read | {} | the operand itself: an annotation of TVM's passes |\n"
      "| refused | {} | unknown to the library, for the reason that stands there |\n\n"
      "| operator | state | where, or why not |\n|---|---|---|\n{}",
      list.size(), count["defined"], count["composite"], count["read"], count["refused"], rows);
}

std::vector<Listed> listed() {
  return listed_in(read_file(std::string(QUERN_SOURCE_DIR) + "/tests/operators/relay_operators.txt"));
}

TEST(RelayOperators, AreTheLibrarysOrRefused) {
  EXPECT_THAT(disagreements(listed(), declared_in(Session::builtin_library())), testing::IsEmpty());
  EXPECT_LE(std::ranges::count(listed(), "refused", &Listed::kind), 15);
}

TEST(RelayOperators, WhatIsReadHasItsOperandsType) {
  for (const Listed& listed : listed()) {
    if (listed.kind != "read") continue;
    Session session;
    const SourceId source = session.add_source(
        session.make_module(), "read.relay",
        fmt::format("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(?, 3), int8]) -> Tensor[(?, 3), "
                    "int8] {{\n  {}\n}}\n",
                    listed.text));
    EXPECT_TRUE(session.check(source).empty()) << listed.name;
  }
}

TEST(RelayOperators, EachMistakeIsSeen) {
  const std::map<std::string, Declared> library = {{"a", {false, "a.relay"}}, {"b", {true, "a.relay"}}};
  EXPECT_THAT(disagreements(listed_in("a\nb | read | b(%x)\nc | refused | why\n"), library),
              testing::IsEmpty());
  EXPECT_THAT(disagreements(listed_in("a | refused | why\nb | known\nc\nd | refused\na\n"), library),
              testing::ElementsAre("a: the library has it", "b: neither read nor refused",
                                   "c: the library does not have it, and no reason says why", "d: no reason",
                                   "a: the names are not in order"));
}

TEST(RelayOperators, HaveAPage) {
  const std::string page = page_of(listed(), declared_in(Session::builtin_library()));
  const std::string path = std::string(QUERN_SOURCE_DIR) + "/docs/relay_operators.md";
  if (std::getenv("QUERN_UPDATE_GOLDENS")) {
    std::ofstream(path) << page;
    return;
  }
  EXPECT_EQ(read_file(path), page) << "`./dev goldens` writes docs/relay_operators.md";
}

}  // namespace
}  // namespace quern::numeric
