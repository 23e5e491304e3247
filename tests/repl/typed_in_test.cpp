// What is typed is what a file would be: every golden and every example, typed into the REPL declaration by
// declaration, prints what running the file prints and has the same diagnostics.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/parse/scanner.h"
#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

/// What a program wrote: values in order, and errors without their places.
struct Shown {
  std::vector<std::string> values;
  std::set<std::string> errors;
};

Shown shown_by(const ProgramOutcome& outcome) {
  Shown shown;
  std::istringstream out(outcome.out), err(outcome.err);
  // A file's tests are run by `quern test`, those that are typed at once.
  for (std::string line; std::getline(out, line);)
    if (!line.starts_with("ok     ") && !line.starts_with("FAILED ")) shown.values.push_back(line);
  for (std::string line; std::getline(err, line);)
    if (line.starts_with("error[")) shown.errors.insert(line);
  return shown;
}

/// On one line where no bracket is open, since that is how an input goes on over lines.
std::string on_one_line(std::string text) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    if (in_string) continue;
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/')
      while (i < text.size() && text[i] != '\n') text[i++] = ' ';
    if (i == text.size()) break;
    if (text[i] == '\n') text[i] = ' ';
  }
  return text;
}

/// The inputs of somebody who types the text piece by piece, comments included.
std::string typing_of(const std::string& text) {
  const ScanOutcome scanned = scan(text);
  const std::string header = scanned.slash_names ? "#[version = \"0.0.5\"] " : "";
  std::string inputs;
  bool has_main = false;
  uint32_t typed = scanned.begin;
  for (const Piece& piece : scanned.pieces) {
    const std::string one = text.substr(piece.range.begin, piece.range.end - piece.range.begin);
    inputs += text.substr(typed, piece.range.begin - typed) + "\n";
    inputs += header + (piece.kind == PieceKind::Statement ? on_one_line(one) : one);
    has_main |= one.starts_with("def @main()");
    typed = piece.range.end;
  }
  inputs += text.substr(typed, scanned.end - typed) + "\n";
  return inputs + (has_main ? "@main()\n" : "");
}

std::string_view code_of(std::string_view error) { return error.substr(6, 5); }

/// Whether an error of what was typed beside those of the file is of its nature.
bool is_of_typing(const std::string& error, const Shown& run, bool failed_test) {
  // An input that is refused declares nothing.
  constexpr std::array<std::string_view, 5> kUnknown{"Q0201", "Q0202", "Q0203", "Q0208", "Q0217"};
  if (std::ranges::find(kUnknown, code_of(error)) != kUnknown.end()) return !run.errors.empty();
  // Of a file that is refused nothing runs, and tests run when they are typed.
  if (code_of(error).starts_with("Q05")) return !run.errors.empty() || failed_test;
  // The mistakes of an imported file are one error at the prompt.
  if (code_of(error) == "Q0602" || code_of(error) == "Q0607") return !run.errors.empty();
  // What two lines are is another text on one.
  return code_of(error) == "Q0113" && error.find("a remainder is written with blanks") != std::string::npos;
}

/// Whether an error of a file cannot be made by somebody who types it.
bool is_of_file(const std::string& error) {
  struct Kind {
    std::string_view code, message, reason;
  };
  constexpr std::array<Kind, 8> kKinds{{
      {"Q0109", "", "the end of a line ends an input"},
      {"Q0115", "a byte order mark", "an input is a text, and may begin with the mark"},
      {"Q0115", "a comment begins with", "an input is a text, and may begin with a line for the shell"},
      {"Q0204", "twice", "what is defined again at the prompt replaces what was there"},
      {"Q0214", "is declared twice", "the same of constructors"},
      {"Q0503", "`@main` lacks", "the prompt calls @main as any other function"},
      {"Q0602", "", "who types is no file that others import"},
      {"Q0603", "", "what is typed later replaces what was there, or hides it"},
  }};
  return std::ranges::any_of(kKinds, [&](const Kind& kind) {
    return code_of(error) == kind.code && error.find(kind.message) != std::string::npos;
  });
}

/// Texts that nobody can type: they are not compared.
bool cannot_be_typed(const std::string& file, const std::string& text) {
  if (text.find('\0') != std::string::npos) return true;           // it is no text
  if (text.find("#[metadata]") != std::string::npos) return true;  // an input has no metadata
  // Its header, which decides defaults, is a line of its own.
  if (file == "tests/golden/modules/header_defaults_before_0_7.relay") return true;
  return file == "tests/golden/grammar/scripts.relay";  // a statement calls what is defined after it
}

/// The folder and the text of a program as it is compared: one that trains does so for a moment, and writes its
/// checkpoints into a copy of its folder.
class ComparedProgram {
 public:
  explicit ComparedProgram(const fs::path& file)
      : folder_(file.parent_path().string()), name_(file.filename().string()), text_(read_file(file)) {
    if (!name_.starts_with("train_")) return;
    copy_.emplace();
    fs::copy(file.parent_path() / "data", *copy_ / "data", fs::copy_options::recursive);
    folder_ = copy_->path().string();
    text_ = std::regex_replace(text_, std::regex("let %(epochs|steps) = [0-9]+;"), "let %$1 = 2;");
    std::ofstream(*copy_ / name_) << text_;
  }
  const std::string& text() const { return text_; }
  Shown run() const { return shown_by(run_program({QUERN_BINARY, "run", name_}, folder_)); }
  ProgramOutcome typed() const {
    if (copy_)
      for (const auto& entry : fs::directory_iterator(folder_))
        if (entry.path().extension() == ".safetensors") fs::remove(entry.path());
    return run_program({QUERN_BINARY}, folder_, typing_of(text_));
  }

 private:
  std::optional<TemporaryFolder> copy_;
  std::string folder_, name_, text_;
};

class TypedIn : public testing::TestWithParam<size_t> {};

constexpr size_t kShards = 8;

TEST_P(TypedIn, IsWhatTheFileIs) {
  std::vector<std::string> files = relay_files({"tests/golden", "examples"});
  for (size_t i = GetParam(); i < files.size(); i += kShards) {
    SCOPED_TRACE(files[i]);
    const ComparedProgram program(fs::path(QUERN_SOURCE_DIR) / files[i]);
    if (cannot_be_typed(files[i], program.text())) continue;
    const Shown run = program.run();
    const ProgramOutcome outcome = program.typed();
    const bool failed_test = outcome.out.find("FAILED ") != std::string::npos;
    Shown typed = shown_by(outcome);
    // A file with errors ends at the first, or runs nothing at all.
    if (!run.errors.empty() && typed.values.size() > run.values.size())
      typed.values.resize(run.values.size());
    EXPECT_EQ(typed.values, run.values);
    const auto of_import = [](const std::string& error) { return code_of(error) == "Q0607"; };
    const bool imports_mistakes = std::ranges::any_of(typed.errors, of_import);
    for (const std::string& error : run.errors)
      EXPECT_TRUE(typed.errors.contains(error) || is_of_file(error) || imports_mistakes)
          << "missing: " << error;
    for (const std::string& error : typed.errors)
      EXPECT_TRUE(run.errors.contains(error) || is_of_typing(error, run, failed_test)) << "beside: " << error;
  }
}

INSTANTIATE_TEST_SUITE_P(Repl, TypedIn, testing::Range(size_t{0}, kShards));

}  // namespace
}  // namespace quern
