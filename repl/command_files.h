#pragma once
// What the subcommands share: exit codes, files, and how they speak.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"
#include "ir/value/value_style.h"
#include "session/session.h"

namespace quern {

constexpr int kFine = 0, kWrong = 1, kMisuse = 2, kBug = 70;

Result<std::string> read_file(const std::string& path);
/// Puts a text in the place of what a file holds.
Result<Done> write_file(const std::string& path, std::string_view text);
Result<std::string> read_stdin();
/// The library: the embedded texts, or those of a folder.
Result<std::vector<Session::LibraryFile>> library(const std::string& folder);

/// Whether a stream is a terminal whose user wants colours.
bool colours_wanted(std::FILE* stream = stderr);
/// Characters across and down.
struct TerminalSize {
  int columns = 0, rows = 0;
};
/// Of the terminal that a stream is; nothing of other streams, and of terminals that do not say.
std::optional<TerminalSize> terminal_size(std::FILE* stream);
/// Its columns; SIZE_MAX where there is no size.
size_t terminal_columns(std::FILE* stream);
/// How values are shown on a stream: as wide as its terminal, where it is one that says how wide; whole where it is
/// none, and the same wherever it leads.
ValueStyle style_wanted(std::FILE* stream = stdout);
/// kFine without errors, kBug where one is a bug of Quern, else kWrong.
int exit_code(const std::vector<LocatedDiagnostic>& diagnostics);
void print_diagnostics(const std::vector<LocatedDiagnostic>& diagnostics);
/// On a terminal, how to read more about the first of them.
void point_to_explanation(const std::vector<LocatedDiagnostic>& diagnostics);
/// A line on standard error that begins with the program's name.
void say(const std::string& message);
/// Says so where the cache of compiled code is not used because somebody else may change it.
void warn_about_cache(const std::filesystem::path& cache);

/// A session with one file in it.
struct OpenedFile {
  std::unique_ptr<Session> session;
  ModuleId module = 0;
  SourceId source = 0;
};
/// The diagnostic of a source file that could not be opened.
LocatedDiagnostic unreadable(const std::string& path, const Failure& failure);
/// `-` is standard input.
Result<OpenedFile> open_file(const std::string& path, const std::string& stdlib);
/// The same with a text; its folder is the working folder.
Result<OpenedFile> open_text(const std::string& name, std::string text, const std::string& stdlib);

}  // namespace quern
