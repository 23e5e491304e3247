#include "repl/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "frontend/text/suggest.h"
#include "repl/workspace.h"

namespace quern {

namespace {

CommandOutcome outcome(bool fine) { return fine ? CommandOutcome::Fine : CommandOutcome::Failed; }

CommandOutcome help(Workspace&, const std::string&) {
  size_t width = 0;
  for (const ReplCommand& c : repl_commands())
    width = std::max(width, c.name.size() + 1 + c.arguments.size());
  for (const ReplCommand& c : repl_commands())
    fmt::print("{:<{}}  {}\n", fmt::format("{} {}", c.name, c.arguments), width, c.help);
  fmt::print(
      "\nAnything else is the language: an expression prints its value; `let`, `def`, `op` and `type` name "
      "things.\n"
      "An input goes on over lines while brackets are open; Ctrl-C drops it.\n");
  return CommandOutcome::Fine;
}

constexpr std::array<ReplCommand, 11> kCommands{{
    {":type", "EXPR", "the type of an expression, of @f or of an operator",
     [](Workspace& w, const std::string& a) { return outcome(w.show_type(a)); }},
    {":ir", "[STAGE] EXPR",
     "an expression or @f at a stage of compilation: ast, typed, …, schedule, loops, asm",
     [](Workspace& w, const std::string& a) { return outcome(w.show_stage(a)); }},
    {":explain", "[CODE]", "what a code such as Q0302 means; without one, that of the last diagnostic",
     [](Workspace& w, const std::string& a) { return outcome(w.explain(a)); }},
    {":vars", "", "the variables and their types",
     [](Workspace& w, const std::string&) { return outcome(w.show_variables()); }},
    {":load", "FILE", "run the statements of a file here",
     [](Workspace& w, const std::string& a) { return outcome(w.load(a)); }},
    {":reload", "", "read the files that are imported again",
     [](Workspace& w, const std::string&) { return outcome(w.reload()); }},
    {":memory", "", "what the session keeps in memory, by kind",
     [](Workspace& w, const std::string&) {
       w.show_memory();
       return CommandOutcome::Fine;
     }},
    {":profile", "on|off|show", "note what each kernel takes, from nothing; stop; show it as a table",
     [](Workspace& w, const std::string& a) { return outcome(w.profile(a)); }},
    {":reset", "", "forget everything",
     [](Workspace& w, const std::string&) {
       w.reset();
       return CommandOutcome::Fine;
     }},
    {":help", "", "this list", help},
    {":quit", "", "end the session (also Ctrl-D)",
     [](Workspace&, const std::string&) { return CommandOutcome::Quit; }},
}};

CommandOutcome refuse(const std::string& message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", message);
  return CommandOutcome::Failed;
}

CommandOutcome unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const ReplCommand& c : repl_commands()) names.emplace_back(c.name);
  auto meant = did_you_mean(name, names);
  return refuse(meant ? fmt::format("unknown command `{}`; did you mean `{}`?", name, *meant)
                      : fmt::format("unknown command `{}`; `:help` lists them", name));
}

CommandOutcome run_command(Workspace& workspace, const std::string& line) {
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t name_end = std::min(line.find_first_of(kBlanks), line.size());
  std::string name = line.substr(0, name_end);
  size_t begin = std::min(line.find_first_not_of(kBlanks, name_end), line.size());
  std::string argument = line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
  // The first letters do where they are those of one command.
  const auto begins = [&](const ReplCommand& command) { return command.name.starts_with(name); };
  const bool is_short = name.size() > 1 && std::ranges::count_if(kCommands, begins) == 1;
  for (const ReplCommand& command : kCommands) {
    if (command.name != name && !(is_short && begins(command))) continue;
    if (command.arguments.empty() && !argument.empty())
      return refuse(fmt::format("`{}` takes nothing", command.name));
    bool optional = command.arguments.starts_with('[') && command.arguments.ends_with(']');
    if (!command.arguments.empty() && !optional && argument.empty())
      return refuse(fmt::format("write `{} {}`", command.name, command.arguments));
    return command.run(workspace, argument);
  }
  return unknown(name);
}

}  // namespace

std::span<const ReplCommand> repl_commands() { return kCommands; }

std::optional<std::string_view> command_meant(std::string_view input) {
  if (input == "exit") return ":quit";
  for (const ReplCommand& command : kCommands)
    if (command.name.substr(1) == input) return command.name;
  return std::nullopt;
}

CommandOutcome take_input(Workspace& workspace, const std::string& input) {
  CommandOutcome taken = CommandOutcome::Failed;
  auto bug = failure_of([&] {
    if (input.starts_with(':'))
      taken = run_command(workspace, input);
    else if (auto meant = command_meant(input))
      taken = refuse(fmt::format("the command is `{}`", *meant));
    else
      taken = outcome(workspace.submit(input));
  });
  if (bug) workspace.report(*bug);
  return taken;
}

}  // namespace quern
