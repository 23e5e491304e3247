// The `quern` command.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "frontend/text/suggest.h"
#include "repl/command_files.h"
#include "repl/session_thread.h"

namespace {

/// Says that the first word is no command, and which one was likely meant; false where a command was given.
bool unknown_command(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  if (words.empty() || words.front().starts_with('-') || !app.get_subcommands().empty()) return false;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  auto meant = quern::did_you_mean(words.front(), names);
  quern::say(fmt::format("there is no command `{}`; {}", words.front(),
                         meant ? fmt::format("did you mean `{}`?", *meant) : "`quern --help` lists them"));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Quern: a functional tensor language for exploring models as text", "quern"};
  app.require_subcommand(0, 1);
  app.fallthrough(false);
  quern::CommandLine command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    if (!unknown_command(app)) app.exit(error);
    return quern::kMisuse;
  } catch (const CLI::ParseError& error) {
    // Help goes to stdout and is fine; every misuse is exit code 2.
    return app.exit(error) == 0 ? quern::kFine : quern::kMisuse;
  }
  return quern::on_session_thread([&] { return command.run(); });
}
