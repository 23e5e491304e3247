// The `quern` command.

#include <CLI/CLI.hpp>

#include "repl/commands.h"
#include "repl/session_thread.h"

int main(int argc, char** argv) {
  CLI::App app{"Quern: a functional tensor language for exploring models as text", "quern"};
  app.require_subcommand(0, 1);
  app.fallthrough(false);
  quern::CommandLine command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help goes to stdout and is fine; every misuse is exit code 2.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return quern::on_session_thread([&] { return command.run(); });
}
