// The `quern` command.

#include <fmt/format.h>
#include <mimalloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "frontend/text/suggest.h"
#include "jit/codegen/background/abandoned.h"
#include "repl/command_files.h"
#include "repl/session_thread.h"

// Builds with sanitizers have an allocator of their own.
#pragma weak mi_option_set

namespace {

/// Has the kernel give the threads that begin from now on memory in pages of 2 MiB, where it does so only when it is
/// asked. A language server keeps 10 KB of each declaration that it reads: first use of that in pages of 4 KiB takes a
/// fifth of the time in which a long text is opened. Shorter work does not repay the 10 MB more that it holds.
void use_large_pages() {
  if (!mi_option_set) return;
  mi_option_set(mi_option_large_os_pages, 1);
  mi_option_set(mi_option_eager_commit_delay, 0);  // else the first pages of a thread are small
}

/// Reports a first word that is no command, with the most similar command; false if there is a command.
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

/// Whether the first word is a program instead of a command: a file, or an option that gives its text.
bool is_program(const std::string& word) {
  std::error_code ignored;
  return word == "-" || word == "-c" || word.ends_with(".relay") || word.find('/') != std::string::npos ||
         std::filesystem::is_regular_file(word, ignored);
}

/// The arguments, with `run` inserted before a program.
std::vector<std::string> with_command(const CLI::App& app, std::vector<std::string> arguments) {
  size_t first = 0;
  while (first < arguments.size() && arguments[first] == "--stdlib") first += 2;
  while (first < arguments.size() && arguments[first].starts_with("--stdlib=")) ++first;
  const bool has_word = first < arguments.size();
  const auto is_command = [&](const CLI::App* command) { return command->get_name() == arguments[first]; };
  if (has_word && is_program(arguments[first]) &&
      std::ranges::none_of(app.get_subcommands([](auto*) { return true; }), is_command))
    arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(first), "run");
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Quern: a functional tensor language for exploring models as text", "quern"};
  app.require_subcommand(0, 1);
  app.fallthrough(false);
  quern::CommandLine command(app);
  app.footer(
      "quern FILE and quern -c TEXT are short for quern run. Exit codes: 0 fine, 1 the program or its input "
      "is "
      "wrong,\n2 the command line is wrong, 70 a bug of Quern.");
  try {
    std::vector<std::string> arguments = with_command(app, {argv + 1, argv + argc});
    std::ranges::reverse(arguments);  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::ExtrasError& error) {
    if (!unknown_command(app)) app.exit(error);
    return quern::kMisuse;
  } catch (const CLI::ParseError& error) {
    // Help is printed to stdout with exit code 0; every misuse has exit code 2.
    return app.exit(error) == 0 ? quern::kFine : quern::kMisuse;
  }
  quern::codegen::abandon_work_at_end();
  if (app.got_subcommand("lsp")) use_large_pages();
  return quern::codegen::end_process(quern::on_session_thread([&] { return command.run(); }));
}
