// Golden tests: what the command answers to a text, kept beside the text.
//
// A `.relay` file below this folder begins with lines `// run: check` or `// run: ir --stage typed`:
// arguments of the command, to which the file's path is appended; variables of its environment (`QUERN_DEVICES=cpu:1 run`) may
// stand before them. The `.out` file beside it holds what each
// run wrote and its exit code. With QUERN_UPDATE_GOLDENS=1 (`./dev goldens`) the `.out` files are written
// anew.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/files.h"
#include "tests/golden/run_program.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDirective = "// run: ";
constexpr int kBugExit = 70;  ///< this and above (crashes) are bugs, whatever was kept

/// The arguments of each run that the first lines ask for.
std::vector<std::vector<std::string>> runs_of(const std::string& text) {
  std::vector<std::vector<std::string>> runs;
  // A byte order mark may stand before them.
  std::istringstream lines(text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0));
  for (std::string line; std::getline(lines, line) && line.starts_with(kDirective);) {
    std::istringstream words(line.substr(kDirective.size()));
    std::vector<std::string> run;
    for (std::string word; words >> word;) run.push_back(word);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string section(std::string_view title, const std::string& text) {
  if (text.empty()) return "";
  return std::string(title) + "\n" + text + (text.ends_with('\n') ? "" : "\n(no newline at the end)\n");
}

std::string transcript_of(const std::vector<std::string>& arguments, const std::string& file) {
  const auto first = std::ranges::find_if_not(arguments, [](const std::string& word) {
    return word.starts_with("QUERN_") && word.find('=') != std::string::npos;
  });
  std::vector<std::string> command(arguments.begin(), first);
  std::string heading = "$";
  for (const std::string& variable : command) heading += " " + variable;
  heading += " quern";
  if (!command.empty()) command.insert(command.begin(), "/usr/bin/env");
  command.emplace_back(QUERN_BINARY);
  for (auto word = first; word != arguments.end(); ++word) {
    heading += " " + *word;
    command.push_back(*word);
  }
  heading += " " + file;
  command.push_back(file);
  ProgramOutcome outcome = run_program(command, QUERN_SOURCE_DIR);
  EXPECT_FALSE(outcome.timed_out) << heading;
  EXPECT_LT(outcome.code, kBugExit) << heading;
  return heading + "\n" + section("--- stdout", outcome.out) + section("--- stderr", outcome.err) +
         "--- exit " + std::to_string(outcome.code) + "\n";
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IsAsKept) {
  fs::path source = fs::path(QUERN_SOURCE_DIR) / GetParam();
  auto runs = runs_of(read_file(source));
  ASSERT_FALSE(runs.empty()) << GetParam() << " does not begin with `" << kDirective << "…`";
  std::string actual;
  for (auto& run : runs) actual += transcript_of(run, GetParam());
  fs::path kept = fs::path(source).replace_extension(".out");
#ifdef __SANITIZE_ADDRESS__
  // The interpreter's recursion takes more of the stack than the sanitizer follows.
  if (read_file(kept).find("the recursion is too deep") != std::string::npos) GTEST_SKIP();
#endif
  const char* update = std::getenv("QUERN_UPDATE_GOLDENS");
  if (update && std::string_view(update) == "1") {
    if (read_file(kept) != actual) std::ofstream(kept, std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(actual, read_file(kept)) << "`./dev goldens` writes the kept outputs anew";
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(relay_files({"tests/golden"})),
                         [](const auto& info) {
                           std::string name = info.param.substr(std::string_view("tests/golden/").size());
                           name.resize(name.size() - std::string_view(".relay").size());
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// An output without its text is left over from a file that was renamed.
TEST(GoldenFiles, HaveNoStrayOutputs) {
  for (auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / "tests/golden")) {
    if (entry.path().extension() != ".out") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".relay"))) << entry.path();
  }
}

// A kind that no golden shows is one that nobody has read: diagnostics/<code>_….relay shows it.
TEST(GoldenFiles, ShowEveryKindOfDiagnostic) {
  struct Kind {
    std::string_view code, name;
  };
  constexpr Kind kKinds[] = {
#define QUERN_DIAGNOSTIC(code, name, title) {#code, #name},
#include "frontend/text/diagnostics.def"
#undef QUERN_DIAGNOSTIC
  };
  std::vector<std::string> files = relay_files({"tests/golden"});
  for (const Kind& kind : kKinds) {
    // A bug is planted for the one (tests/repl/failing_checks_test.cpp); in place of the other, the command
    // shows the mistakes themselves (tests/repl/mistakes.transcript).
    if (kind.name == "InternalError" || kind.name == "ImportedMistake") continue;
    std::string prefix = "tests/golden/diagnostics/q" + std::string(kind.code.substr(1)) + "_";
    bool shown = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      fs::path kept = (fs::path(QUERN_SOURCE_DIR) / file).replace_extension(".out");
      return file.starts_with(prefix) && read_file(kept).find(kind.code) != std::string::npos;
    });
    EXPECT_TRUE(shown) << kind.code << " (" << kind.name << ") has no " << prefix << "….relay that shows it";
  }
}

}  // namespace
}  // namespace quern
