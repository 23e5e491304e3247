// `quern fmt`.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "frontend/format/format.h"
#include "repl/command_files.h"

namespace quern {

namespace {

/// `3:7`, or `5` for one line.
std::optional<LineRange> parse_lines(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view ends[] = {text.substr(0, colon),
                             colon == std::string_view::npos ? text : text.substr(colon + 1)};
  LineRange lines{};
  uint32_t* values[] = {&lines.first, &lines.last};
  for (int i = 0; i < 2; ++i) {
    auto [end, error] = std::from_chars(ends[i].data(), ends[i].data() + ends[i].size(), *values[i]);
    if (error != std::errc() || end != ends[i].data() + ends[i].size()) return std::nullopt;
  }
  if (lines.first == 0 || lines.last < lines.first) return std::nullopt;
  return lines;
}

/// One file, or standard input; the exit code.
int format_file(const std::string& path, std::optional<LineRange> lines, bool only_check) {
  bool from_stdin = path == "-";
  std::string name = from_stdin ? "<stdin>" : path;
  auto text = from_stdin ? read_stdin() : read_file(path);
  if (!text) {
    print_diagnostics({unreadable(name, text.error())});
    return kWrong;
  }
  Session session((std::vector<Session::LibraryFile>()));
  SourceId source = session.add_source(session.make_module(), name, *text);
  auto formatted = session.format(source, lines);
  if (!formatted) {
    say(fmt::format("`{}` is left as it is: {}", name, formatted.error().message));
    return kBug;
  }
  print_diagnostics(formatted->diagnostics);
  bool differs = formatted->text != *text;
  if (only_check && differs) fmt::print("{}\n", name);
  if (!only_check && from_stdin) std::fwrite(formatted->text.data(), 1, formatted->text.size(), stdout);
  if (!only_check && !from_stdin && differs && !replace_file(path, formatted->text)) {
    say(fmt::format("`{}` cannot be written", path));
    return kWrong;
  }
  return !formatted->diagnostics.empty() || (only_check && differs) ? kWrong : kFine;
}

}  // namespace

int CommandLine::format_files() {
  std::optional<LineRange> lines;
  if (!range_.empty() && !(lines = parse_lines(range_))) {
    say(fmt::format("`--range {}` has to be two line numbers A:B, counted from 1", range_));
    return kMisuse;
  }
  if (lines && files_.size() > 1) {
    say("`--range` takes one file");
    return kMisuse;
  }
  int code = kFine;
  for (const std::string& path : files_) code = std::max(code, format_file(path, lines, check_));
  return code;
}

}  // namespace quern
