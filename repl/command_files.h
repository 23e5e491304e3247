#pragma once
// Shared by the subcommands: exit codes, files and messages.

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
/// Overwrites a file with a text.
Result<Done> write_file(const std::string& path, std::string_view text);
Result<std::string> read_stdin();
/// The files of the library: the embedded ones, or those of a folder.
Result<std::vector<Session::LibraryFile>> library(const std::string& folder);

/// Whether a stream is a terminal and colours are not disabled.
bool colours_wanted(std::FILE* stream = stderr);
/// Characters across and down.
struct TerminalSize {
  int columns = 0, rows = 0;
};
/// The size of the terminal of a stream; nothing for other streams and for terminals that do not report it.
std::optional<TerminalSize> terminal_size(std::FILE* stream);
/// Its columns; SIZE_MAX where there is no size.
size_t terminal_columns(std::FILE* stream);
/// The style for values on a stream: as wide as the terminal if that reports its width; unabbreviated and fixed if it
/// is no terminal.
ValueStyle style_wanted(std::FILE* stream = stdout);
/// kFine without errors, kBug if one of them is a bug of Quern, otherwise kWrong.
int exit_code(const std::vector<LocatedDiagnostic>& diagnostics);
void print_diagnostics(const std::vector<LocatedDiagnostic>& diagnostics);
/// On a terminal, also prints how to get an explanation of the first one.
void point_to_explanation(const std::vector<LocatedDiagnostic>& diagnostics);
/// Prints a line to standard error, after the program's name.
void say(const std::string& message);
/// Warns if the cache of compiled code is not used because other users can write to it.
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
/// The same for a text; its folder is the working directory.
Result<OpenedFile> open_text(const std::string& name, std::string text, const std::string& stdlib);

}  // namespace quern
