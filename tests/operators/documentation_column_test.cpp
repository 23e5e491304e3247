// Column: documentation. Each operator's doc comment has examples, which print what it says;
// docs/operators.md is what `quern doc` makes of the comments (QUERN_UPDATE_GOLDENS=1 writes it).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "ide/documentation.h"
#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/operators/drawn.h"
#include "tests/support/library.h"
#include "tests/temporary_folder.h"

namespace quern::numeric {
namespace {

class DocumentationColumn : public testing::TestWithParam<std::string> {};

TEST_P(DocumentationColumn, ExamplesPrintWhatItSays) {
  std::vector<ide::DocExample> examples = ide::doc_examples(doc_comment(GetParam()));
  ASSERT_FALSE(examples.empty()) << "the doc comment of `" << GetParam() << "` has no example";
  bool own = own_operators().find("op " + GetParam() + "(") != std::string::npos;
  std::string program = own ? own_operators() : "", output;
  for (const ide::DocExample& example : examples) {
    EXPECT_NE(example.code.find(GetParam() + "("), std::string::npos) << example.code;
    EXPECT_FALSE(example.output.empty()) << example.code << "does not say what it prints";
    program += example.code + ";\n";
    output += example.output;
  }
  const TemporaryFolder folder;
  std::string path = (folder / "example.relay").string();
  std::ofstream(path) << program;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{QUERN_BINARY, "run", path}, {QUERN_BINARY, "run", "--interpret", path}}) {
    ProgramOutcome outcome = run_program(command, folder.string(), "", std::chrono::seconds(60));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, output);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, DocumentationColumn, testing::ValuesIn(operators_of(library_texts())),
                         [](const auto& info) { return test_name(info.param); });

// What a page says of each operator.
std::map<std::string, std::string> sections_of(const std::string& page) {
  std::map<std::string, std::string> sections;
  std::string name;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) name = line;
    if (name.starts_with("### ")) sections[name] += line + "\n";
  }
  return sections;
}

TEST(Operators, HaveAPage) {
  Session session;
  std::string page = ide::library_page(session, session.make_module(), Session::builtin_library());
  std::string path = std::string(QUERN_SOURCE_DIR) + "/docs/operators.md";
  if (std::getenv("QUERN_UPDATE_GOLDENS")) {
    std::ofstream(path) << page;
    return;
  }
  std::map<std::string, std::string> kept = sections_of(read_file(path));
  EXPECT_FALSE(kept.empty());
  std::string missing;
  for (const auto& [name, section] : sections_of(page)) {
    auto known = kept.find(name);
    if (known == kept.end())
      missing += name + " ";
    else
      EXPECT_EQ(known->second, section) << "`./dev goldens` writes docs/operators.md";
  }
  if (!missing.empty()) GTEST_SKIP() << "not on the page yet: " << missing;
}

}  // namespace
}  // namespace quern::numeric
