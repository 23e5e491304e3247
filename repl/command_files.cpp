#include "repl/command_files.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "frontend/text/render.h"
#include "jit/cache/kernel_cache.h"

namespace quern {

Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Failure{fmt::format("`{}` is a folder", path)};
  std::ifstream in(path, std::ios::binary);
  if (!in) return Failure{fmt::format("`{}` cannot be read: {}", path, std::strerror(errno))};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<Done> write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Failure{fmt::format("`{}` cannot be written: {}", path, std::strerror(errno))};
  return Done{};
}

Result<std::vector<Session::LibraryFile>> library(const std::string& folder) {
  if (folder.empty()) return Session::builtin_library();
  std::vector<Session::LibraryFile> files;
  std::error_code error;
  for (auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".relay") continue;
    auto text = read_file(entry.path().string());
    if (!text) return text.error();
    files.push_back({entry.path().filename().string(), *text});
  }
  if (error || files.empty()) return Failure{fmt::format("the folder `{}` has no library", folder)};
  std::sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return files;
}

// https://no-color.org
bool colours_wanted(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal && std::string_view(terminal) == "dumb";
  return isatty(fileno(stream)) != 0 && !(no_colour && *no_colour) && !is_dumb;
}

std::optional<TerminalSize> terminal_size(std::FILE* stream) {
  winsize size{};
  if (isatty(fileno(stream)) == 0 || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) return std::nullopt;
  if (size.ws_col == 0 || size.ws_row == 0) return std::nullopt;
  return TerminalSize{size.ws_col, size.ws_row};
}

size_t terminal_columns(std::FILE* stream) {
  const auto size = terminal_size(stream);
  return size ? static_cast<size_t>(size->columns) : SIZE_MAX;
}

ValueStyle style_wanted(std::FILE* stream) {
  ValueStyle style;
  style.whole = isatty(fileno(stream)) == 0;
  if (const auto terminal = terminal_size(stream)) style.width = terminal->columns;
  return style;
}

int exit_code(const std::vector<LocatedDiagnostic>& diagnostics) {
  auto is_bug = [](const LocatedDiagnostic& d) { return d.kind == DiagnosticKind::InternalError; };
  return std::ranges::any_of(diagnostics, is_bug) ? kBug : has_errors(diagnostics) ? kWrong : kFine;
}

void print_diagnostics(const std::vector<LocatedDiagnostic>& diagnostics) {
  const size_t width = terminal_columns(stderr);
  std::fputs(render_all(diagnostics, colours_wanted(), kMostDiagnostics, width).c_str(), stderr);
}

void point_to_explanation(const std::vector<LocatedDiagnostic>& diagnostics) {
  if (diagnostics.empty() || !isatty(STDERR_FILENO)) return;
  fmt::print(stderr, "`quern explain {}` says more\n", code_of(diagnostics.front().kind));
}

void say(const std::string& message) { std::fputs(printable("quern: " + message + "\n").c_str(), stderr); }

void warn_about_cache(const std::filesystem::path& cache) {
  if (const std::string why = distrust(cache); !why.empty())
    say(fmt::format(
        "warning: the cache of compiled code is not used: {}; QUERN_CACHE names another file, or is off",
        why));
}

LocatedDiagnostic unreadable(const std::string& path, const Failure& failure) {
  return {DiagnosticKind::UnreadableSource, path, {}, {}, failure.message};
}

Result<OpenedFile> open_file(const std::string& path, const std::string& stdlib) {
  if (const auto module = Session::library_module(path)) return open_text(path, std::string(*module), stdlib);
  const bool is_stdin = path == "-";
  auto text = is_stdin ? read_stdin() : read_file(path);
  if (!text) return text.error();
  return open_text(is_stdin ? "<stdin>" : path, std::move(*text), stdlib);
}

Result<OpenedFile> open_text(const std::string& name, std::string text, const std::string& stdlib) {
  auto files = library(stdlib);
  if (!files) return files.error();
  OpenedFile opened;
  opened.session = std::make_unique<Session>(std::move(*files));
  opened.source = opened.session->open_file(name, std::move(text));
  opened.module = opened.session->module_of(opened.source);
  return opened;
}

Result<std::string> read_stdin() {
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) return Failure{"standard input cannot be read"};
  return text;
}

}  // namespace quern
