// The transcripts of this repository (ide/transcript.h): those beside this file, and those in what there is to read.
// QUERN_UPDATE_GOLDENS=1 writes them anew.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ide/transcript.h"
#include "repl/input.h"
#include "tests/files.h"
#include "tests/golden/run_program.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

/// As paths from the top of the sources.
std::vector<std::string> transcripts() {
  const fs::path top = QUERN_SOURCE_DIR;
  std::vector<std::string> found;
  for (const char* folder : {".", "docs", "examples", "tests/repl", "tests/repl/configured"})
    for (const auto& entry : fs::directory_iterator(top / folder))
      if (ide::is_transcript(entry.path()) &&
          !ide::parse_transcript(entry.path(), read_file(entry.path())).steps.empty())
        found.push_back(entry.path().lexically_relative(top).generic_string());
  std::sort(found.begin(), found.end());
  return found;
}

class TranscriptOf : public testing::TestWithParam<std::string> {
 protected:
  const fs::path path_ = fs::path(QUERN_SOURCE_DIR) / GetParam();
};

TEST_P(TranscriptOf, ShowsWhatItSays) {
  std::vector<std::string> command{QUERN_BINARY, "test", GetParam()};
  const char* update = std::getenv("QUERN_UPDATE_GOLDENS");
  if (update && std::string_view(update) == "1") command.emplace_back("--update");
  const ProgramOutcome outcome = run_program(command, QUERN_SOURCE_DIR, "", std::chrono::minutes(5));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err << "`./dev goldens` writes it anew";
}

// Lines are typed one after the other: the prompt asks for more where the transcript goes on, and nowhere else.
TEST_P(TranscriptOf, GoesOnOverLinesAsThePromptDoes) {
  for (const ide::TranscriptStep& step : ide::parse_transcript(path_, read_file(path_)).steps) {
    if (step.kind != ide::TranscriptStep::Kind::Input || step.text.starts_with(':')) continue;
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = step.text.find('\n', begin);
      const std::string typed = step.text.substr(0, end);
      const bool is_blank = typed.find_first_not_of(' ', begin) == std::string::npos;
      EXPECT_EQ(needs_more(typed, is_blank), end != std::string::npos) << typed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, TranscriptOf, testing::ValuesIn(transcripts()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace quern
