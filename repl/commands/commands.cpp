#include "repl/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "frontend/text/render.h"
#include "frontend/text/suggest.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

namespace {

CommandOutcome refuse(const std::string& message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", message);
  return CommandOutcome::Failed;
}

bool reset(Workspace& workspace, const std::string&) {
  workspace.reset();
  return true;
}
CommandOutcome quit(Workspace&, const std::string&) { return CommandOutcome::Quit; }
CommandOutcome help(Workspace& workspace, const std::string& command);

/// Commands about the whole session.
std::span<const ReplCommand> of_session() {
  static constexpr ReplCommand kRows[] = {
      {":reset", "", Takes::None, About::Session, "forget everything", as_command<reset>},
      {":help", "[COMMAND]", Takes::Command, About::Session, "this list", help},
      {":quit", "", Takes::None, About::Session, "end the session (also Ctrl-D)", quit},
  };
  return kRows;
}

std::string_view heading(CommandGroup group) {
  switch (group) {
    case About::Look: return "Look";
    case About::Pictures: return "Pictures and tables";
    case About::Compile: return "Compiler";
    case About::Measure: return "Measure";
    case About::Gradients: return "Values and gradients";
    case About::Session: return "Session";
  }
  return "";
}

bool is_optional(const ReplCommand& command) {
  return command.arguments.starts_with('[') && command.arguments.ends_with(']');
}

/// The command of a name or of an unambiguous prefix; otherwise null and the commands with that prefix.
const ReplCommand* find_command(std::string_view name, std::vector<std::string>& begin_so) {
  if (name == ":h") name = ":help";
  const ReplCommand* found = nullptr;
  for (const ReplCommand& command : repl_commands()) {
    if (command.name == name) return &command;
    if (name.size() < 2 || !command.name.starts_with(name)) continue;
    begin_so.push_back(fmt::format("`{}`", command.name));
    found = &command;
  }
  return begin_so.size() == 1 ? found : nullptr;
}

std::string unknown_command(std::string_view name, const std::vector<std::string>& begin_so) {
  if (!begin_so.empty()) return fmt::format("`{}` may be {}", name, fmt::join(begin_so, ", "));
  std::vector<std::string> names;
  for (const ReplCommand& c : repl_commands()) names.emplace_back(c.name);
  auto meant = did_you_mean(name, names);
  return meant ? fmt::format("unknown command `{}`; did you mean `{}`?", name, *meant)
               : fmt::format("unknown command `{}`; `:help` lists them", name);
}

CommandOutcome help(Workspace& workspace, const std::string& asked) {
  if (!asked.empty()) {
    const std::string name = asked.starts_with(':') ? asked : ":" + asked;
    std::vector<std::string> begin_so;
    const ReplCommand* command = find_command(name, begin_so);
    if (!command) return refuse(unknown_command(name, begin_so));
    fmt::print("{} {}\n  {}\n", command->name, command->arguments, command->help);
    return CommandOutcome::Fine;
  }
  constexpr std::array<std::string_view, 4> kRemarks{
      "The first letters of a command do: `:mem`. `?NAME` and `NAME?` are `:doc NAME`.",
      "Anything else is the language: an expression prints its value; `let`, `def`, `op` and `type` name "
      "things.",
      "The values of expressions are `%_1`, `%_2`, … in the order in which they were shown, the last one is "
      "`%_`.",
      "An input goes on over lines while brackets are open; Ctrl-C drops it."};
  size_t width = 0;
  for (const ReplCommand& c : repl_commands())
    width = std::max(width, c.name.size() + 1 + c.arguments.size());
  const auto columns = static_cast<size_t>(workspace.style().width);
  std::optional<CommandGroup> group;
  for (const ReplCommand& c : repl_commands()) {
    if (group != c.group) fmt::print("{}{}\n", group ? "\n" : "", heading(c.group));
    group = c.group;
    fmt::print("  {:<{}}  {}\n", fmt::format("{} {}", c.name, c.arguments), width,
               wrapped(c.help, width + 4, columns));
  }
  print_line("");
  for (const std::string_view remark : kRemarks) print_line(wrapped(remark, 0, columns));
  return CommandOutcome::Fine;
}

CommandOutcome run_command(Workspace& workspace, std::string_view line) {
  constexpr std::string_view kShell = ":!";
  auto [name, argument] = first_word(line);
  if (line.starts_with(kShell)) {
    name = kShell;
    argument = trimmed(line.substr(kShell.size()));
  }
  std::vector<std::string> begin_so;
  const ReplCommand* command = find_command(name, begin_so);
  if (!command) return refuse(unknown_command(name, begin_so));
  if (command->arguments.empty() && !argument.empty())
    return refuse(fmt::format("`{}` takes nothing", command->name));
  if (!command->arguments.empty() && !is_optional(*command) && argument.empty())
    return refuse(fmt::format("write `{} {}`", command->name, command->arguments));
  return command->run(workspace, std::string(argument));
}

/// The command that an input without a colon stands for: `exit`, `nn.dense?`; nothing for program text.
std::optional<std::string> line_meant(std::string_view input) {
  input = trimmed(input);
  if (input == "exit" || input == "quit") return ":quit";
  if (input == "help" || input == "?") return ":help";
  const bool is_asked = input.starts_with('?') || input.ends_with('?');
  if (!is_asked) return std::nullopt;
  const std::string_view name =
      trimmed(input.starts_with('?') ? input.substr(1) : input.substr(0, input.size() - 1));
  const bool is_word = !name.empty() && name.find_first_of(" \t\n?") == std::string_view::npos;
  return is_word ? std::optional(fmt::format(":doc {}", name)) : std::nullopt;
}

/// A command typed without its colon that does not parse as program text.
std::optional<std::string_view> command_without_colon(std::string_view input) {
  for (const ReplCommand& command : repl_commands())
    if (command.name.substr(1) == trimmed(input)) return command.name;
  return std::nullopt;
}

CommandOutcome take(Workspace& workspace, const std::string& input) {
  if (input.starts_with(':')) return run_command(workspace, input);
  if (auto line = line_meant(input)) return run_command(workspace, *line);
  if (auto command = command_without_colon(input))
    return refuse(fmt::format("the command is `{}`", *command));
  return outcome(workspace.submit(input));
}

}  // namespace

std::span<const ReplCommand> repl_commands() {
  static const std::vector<ReplCommand> all = [] {
    std::vector<ReplCommand> rows;
    for (const auto part :
         {commands_to_inspect(), commands_to_describe(), commands_of_pictures(), commands_of_tables(),
          commands_about_stages(), commands_to_measure(), commands_about_kernels(),
          commands_about_gradients(), commands_to_probe(), commands_about_inputs(), of_session()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

CommandOutcome take_input(Workspace& workspace, const std::string& input) {
  CommandOutcome taken = CommandOutcome::Failed;
  const bool is_timed = workspace.settings().timing;
  const auto start = std::chrono::steady_clock::now();
  auto bug = failure_of([&] { taken = take(workspace, input); });
  if (bug) workspace.report(*bug);
  if (is_timed && workspace.settings().timing && taken != CommandOutcome::Quit)
    print_line(time_text(std::chrono::steady_clock::now() - start));
  return taken;
}

}  // namespace quern
