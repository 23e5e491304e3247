// docs/errors.md against the table of diagnostics: each kind has one section, and each example behaves as it
// says.
//
// The word after an example's language says what it is:
//
//     ```relay wrong           gives this section's code and no other; checked only
//     ```relay right           gives nothing
//     ```relay wrong run ARGS  run instead of checked, with options of `quern run`
//     ```relay file=NAME       a file beside the examples after it; with `run`, a script that makes such
//     files
//     ```sh wrong              a shell script in which `quern` is the command, where no text of a file shows
//     it
//
// Examples are called main.relay. Those of a section share an empty folder.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/text/diagnostics.h"
#include "ide/explain.h"
#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string language, role, file = "main.relay";
  bool run = false;
  std::vector<std::string> options;
  std::string text;
};

struct Section {
  std::string heading, prose;
  std::vector<Example> examples;
};

Example example_of(const std::string& fence) {
  constexpr std::string_view kFile = "file=";
  Example example;
  std::istringstream words(fence);
  words >> example.language;
  for (std::string word; words >> word;) {
    if (word == "wrong" || word == "right")
      example.role = word;
    else if (word == "run")
      example.run = true;
    else if (word.starts_with(kFile))
      example.file = word.substr(kFile.size());
    else
      example.options.push_back(word);
  }
  return example;
}

std::vector<Section> sections() {
  constexpr std::string_view kHeading = "## ", kFence = "```";
  std::vector<Section> found;
  std::ifstream in(QUERN_SOURCE_DIR "/docs/errors.md");
  bool in_example = false;
  for (std::string line; std::getline(in, line);) {
    if (!in_example && line.starts_with(kHeading))
      found.push_back({line.substr(kHeading.size()), {}, {}});
    else if (found.empty())
      continue;
    else if (line.starts_with(kFence)) {
      in_example = !in_example;
      if (in_example) found.back().examples.push_back(example_of(line.substr(kFence.size())));
    } else if (in_example) {
      found.back().examples.back().text += line + "\n";
    } else {
      found.back().prose += line + "\n";
    }
  }
  return found;
}

std::string heading_of(DiagnosticKind kind) {
  return std::string(code_of(kind)) + ": " + std::string(title_of(kind));
}

ProgramOutcome outcome_of(const Example& example, const fs::path& folder) {
  std::vector<std::string> command;
  if (example.language == "sh") {
    std::string quern_folder = fs::path(QUERN_BINARY).parent_path().string();
    command = {"/bin/sh", "-c", "PATH='" + quern_folder + "':\"$PATH\"\n" + example.text};
  } else {
    command = {QUERN_BINARY, example.run ? "run" : "check"};
    command.insert(command.end(), example.options.begin(), example.options.end());
    command.push_back(example.file);
  }
  return run_program(command, folder.string());
}

std::set<std::string> codes_in(const std::string& text) {
  static const std::regex kCode(R"((?:^|\n)(?:error|warning|note)\[(Q\d+)\])");
  std::set<std::string> codes;
  for (std::sregex_iterator at(text.begin(), text.end(), kCode), end; at != end; ++at) codes.insert((*at)[1]);
  return codes;
}

TEST(ErrorsDoc, HasOneSectionForEachKindInTheOrderOfTheTable) {
  std::vector<std::string> wanted, found;
  for (DiagnosticKind kind : all_diagnostic_kinds()) wanted.push_back(heading_of(kind));
  for (const Section& section : sections()) found.push_back(section.heading);
  EXPECT_EQ(found, wanted);
}

TEST(ErrorsDoc, SectionsAreAFewSentencesAWrongAndARightExample) {
  constexpr size_t kShortest = 40, kLongest = 700;
  std::set<std::string> sentences;
  for (const Section& section : sections()) {
    EXPECT_GT(section.prose.size(), kShortest) << section.heading;
    EXPECT_LT(section.prose.size(), kLongest) << section.heading;
    EXPECT_TRUE(sentences.insert(section.prose).second) << section.heading << " says what another one says";
    std::string roles;
    for (const Example& example : section.examples)
      if (!example.role.empty()) roles += example.role + " ";
    EXPECT_EQ(roles, "wrong right ") << section.heading;
  }
}

class ErrorsDocExamples : public testing::TestWithParam<DiagnosticKind> {};

TEST_P(ErrorsDocExamples, BehaveAsTheySay) {
  std::string code(code_of(GetParam()));
  std::vector<Section> all = sections();
  auto section = std::find_if(all.begin(), all.end(),
                              [&](const Section& s) { return s.heading == heading_of(GetParam()); });
  ASSERT_NE(section, all.end());
  const TemporaryFolder folder;
  for (const Example& example : section->examples) {
    if (example.language != "sh") std::ofstream(folder.path() / example.file) << example.text;
    if (example.role.empty() && !example.run) continue;
#ifndef QUERN_FAIL_CHECKS
    if (GetParam() == DiagnosticKind::InternalError && example.role == "wrong") continue;
#endif
    ProgramOutcome outcome = outcome_of(example, folder.path());
    std::string shown = example.text + outcome.out + outcome.err;
    std::set<std::string> wanted;
    if (example.role == "wrong") wanted.insert(code);
    EXPECT_EQ(codes_in(outcome.err), wanted) << shown;
    bool stops = example.role == "wrong" && severity_of(GetParam()) == Severity::Error;
    EXPECT_EQ(outcome.code, !stops ? 0 : GetParam() == DiagnosticKind::InternalError ? 70 : 1) << shown;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ErrorsDocExamples, testing::ValuesIn(all_diagnostic_kinds()),
                         [](const auto& info) { return std::string(code_of(info.param)); });

TEST(DiagnosticTable, CodesAscend) {
  std::string last;
  for (DiagnosticKind kind : all_diagnostic_kinds()) {
    std::string code(code_of(kind));
    EXPECT_TRUE(std::regex_match(code, std::regex("Q0[1-9]\\d\\d"))) << code;
    EXPECT_LT(last, code);
    last = code;
  }
}

// A kind that nothing reports has no place in the table.
TEST(DiagnosticTable, EveryKindIsReportedSomewhere) {
  std::string sources;
  for (const char* room : {"ir", "frontend", "passes", "jit", "session", "lsp", "repl"})
    for (auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / room))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
        sources += read_file(entry.path());
  std::set<std::string> named;
  static const std::regex kUse(R"(DiagnosticKind::(\w+))");
  for (std::sregex_iterator at(sources.begin(), sources.end(), kUse), end; at != end; ++at)
    named.insert((*at)[1]);
  for (const char* name : {
#define QUERN_DIAGNOSTIC(code, name, title) #name,
#include "frontend/text/diagnostics.def"
#undef QUERN_DIAGNOSTIC
       })
    EXPECT_TRUE(named.contains(name)) << name;
}

TEST(Explain, FindsAKindByItsCodeHoweverItIsTyped) {
  for (const char* typed : {"Q0103", "q0103", "Q103", "q103", "103", "0103"})
    EXPECT_EQ(ide::kind_of_code(typed), DiagnosticKind::Unterminated) << typed;
  for (const char* typed : {"", "Q", "Q9999", "-103", "103x", "Q 103", "dims", "99999999999999999999"})
    EXPECT_EQ(ide::kind_of_code(typed), std::nullopt) << typed;
}

TEST(Explain, HasTheSectionOfEachKindAndNoMore) {
  for (DiagnosticKind kind : all_diagnostic_kinds()) {
    std::string_view text = ide::explanation_of(kind);
    EXPECT_TRUE(text.starts_with("## " + heading_of(kind) + "\n")) << text;
    EXPECT_EQ(text.find("\n## "), std::string_view::npos) << text;
    EXPECT_NE(text.find(" right"), std::string_view::npos) << text;
  }
}

}  // namespace
}  // namespace quern
