// `quern serve`.

#include <fmt/format.h>
#include <spawn.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "cli/child_process.h"
#include "cli/commands.h"
#include "repl/command_files.h"
#include "serve/server.h"

extern char** environ;

namespace quern {

namespace {

namespace fs = std::filesystem;

bool has_page(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "index.html", ignored);
}

/// The folder of the page: installed with the program, or built in the repository of the program.
Result<fs::path> page_folder(const std::string& given) {
  const fs::path program = fs::path(own_program()).parent_path();
  const std::vector<fs::path> places =
      given.empty() ? std::vector{program.parent_path() / "share/quern/browser",
                                  program.parent_path().parent_path() / "editors/browser/dist"}
                    : std::vector<fs::path>{given};
  for (const fs::path& place : places)
    if (has_page(place)) return place;
  std::vector<std::string> looked;
  looked.reserve(places.size());
  for (const fs::path& place : places) looked.push_back(place.string());
  return Failure{
      fmt::format("there is no page in `{}`: `npm ci && npm run build` in editors/browser of the "
                  "repository makes it there, in `dist`; `--page DIR` names another folder",
                  fmt::join(looked, "` nor in `"))};
}

void open_browser(const std::string& address) {
  std::string program = "xdg-open", word = address;
  char* const arguments[] = {program.data(), word.data(), nullptr};
  pid_t child = 0;
  if (const int error = posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ))
    say(fmt::format("`xdg-open` cannot be started: {}; open the address yourself", std::strerror(error)));
}

}  // namespace

int CommandLine::serve() {
  auto files = library(stdlib_);
  auto page = page_folder(page_);
  if (!files || !page) {
    say(files ? page.error().message : files.error().message);
    return kWrong;
  }
  serve::ServeOptions options;
  options.port = port_;
  options.page = *page;
  options.make_session = [&] { return std::make_unique<Session>(*files); };
  options.evaluator = evaluator_command(stdlib_);
  options.ready = [&](const std::string& address, const std::string& once) {
    fmt::print("{}\n", address);
    std::fflush(stdout);
    if (open_) open_browser(once);
  };
  std::signal(SIGPIPE, SIG_IGN);
  if (auto done = serve::serve(options); !done) {
    say(done.error().message);
    return kWrong;
  }
  return kFine;
}

}  // namespace quern
