#include "repl/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "frontend/text/suggest.h"
#include "repl/commands/derivative.h"
#include "repl/commands/describe.h"
#include "repl/commands/files.h"
#include "repl/commands/inspect.h"
#include "repl/commands/kernels.h"
#include "repl/commands/measure.h"
#include "repl/commands/pictures.h"
#include "repl/commands/probe.h"
#include "repl/commands/stages.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

namespace {

CommandOutcome outcome(bool fine) { return fine ? CommandOutcome::Fine : CommandOutcome::Failed; }

CommandOutcome refuse(const std::string& message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", message);
  return CommandOutcome::Failed;
}

/// A command of a function that says whether all was well.
template <bool (*function)(Workspace&, const std::string&)>
CommandOutcome as_command(Workspace& workspace, const std::string& argument) {
  return outcome(function(workspace, argument));
}

bool load(Workspace& workspace, const std::string& path) { return workspace.load(path); }
bool reload(Workspace& workspace, const std::string&) { return workspace.reload(); }
bool undo(Workspace& workspace, const std::string&) { return workspace.undo(); }
bool reset(Workspace& workspace, const std::string&) {
  workspace.reset();
  return true;
}
CommandOutcome quit(Workspace&, const std::string&) { return CommandOutcome::Quit; }
CommandOutcome help(Workspace& workspace, const std::string& command);

using Takes = ArgumentKind;
using About = CommandGroup;

constexpr ReplCommand kCommands[] = {
    {":type", "EXPR", Takes::Expression, About::Look, "the type of an expression, of @f or of an operator",
     as_command<show_type>},
    {":shape", "EXPR", Takes::Expression, About::Look, "shape and dtype alone", as_command<show_shape>},
    {":vars", "", Takes::None, About::Look, "the variables, their types and how large their values are",
     as_command<show_variables>},
    {":defs", "", Takes::None, About::Look, "what the inputs declare: definitions, operators, types, tests",
     as_command<show_definitions>},
    {":doc", "NAME", Takes::Name, About::Look, "what an operator, a definition, a variable, a word does",
     as_command<show_documentation>},
    {":source", "NAME", Takes::Name, About::Look, "the text of its declaration", as_command<show_source>},
    {":where", "NAME", Takes::Name, About::Look, "the file and the line of its declaration",
     as_command<show_place>},
    {":explain", "[CODE]", Takes::Code, About::Look,
     "what a code such as Q0302 means; without one, that of the last diagnostic", as_command<explain_code>},

    {":plot", "EXPR", Takes::Expression, About::Pictures,
     "a vector or a list of numbers over its indices, or a pair `(x, y)` of these, as a curve",
     as_command<plot_values>},
    {":hist", "EXPR", Takes::Expression, About::Pictures, "how the numbers of a value are distributed",
     as_command<show_histogram>},
    {":image", "EXPR", Takes::Expression, About::Pictures,
     "a matrix, or a tensor of channels, height and width, as an image", as_command<show_image>},
    {":summary", "EXPR", Takes::Expression, About::Pictures,
     "range, mean, quantiles, zeros, NaN and Inf of a tensor, or of each one in a value",
     as_command<show_summary>},

    {":ir", "[STAGE] EXPR", Takes::Stage, About::Compile,
     "an expression or @f at a stage: ast, typed, …, schedule, loops, asm; `all`; `diff` of the passes",
     as_command<show_stage>},
    {":loops", "EXPR", Takes::Expression, About::Compile, "the loops of its kernels", as_command<show_loops>},
    {":llvm", "EXPR", Takes::Expression, About::Compile, "the LLVM IR of its kernels", as_command<show_llvm>},
    {":asm", "EXPR", Takes::Expression, About::Compile, "the machine code of its kernels",
     as_command<show_assembly>},
    {":passes", "", Takes::None, About::Compile, "the passes in order", as_command<show_passes>},
    {":apply", "PASSES @f [as @g]", Takes::Passes, About::Compile,
     "what these passes alone (`inline,fuse`) make of @f; declares it as @g", as_command<apply_passes>},
    {":graph", "EXPR [> FILE]", Takes::Expression, About::Compile,
     "the kernels and what they read of one another; into a `.dot` or an `.svg`", as_command<show_graph>},

    {":time", "EXPR", Takes::Expression, About::Measure,
     "run it once: how long checking, compiling and running took", as_command<time_expression>},
    {":bench", "A, B", Takes::Expression, About::Measure,
     "run expressions in turns, many times: medians and their ratios", as_command<compare_times>},
    {":profile", "EXPR|on|off|show", Takes::Expression, About::Measure,
     "what each kernel takes: of an expression, or from `on` to `off`", as_command<profile>},
    {":flops", "EXPR", Takes::Expression, About::Measure,
     "the arithmetic and the bytes of each kernel of EXPR or @f", as_command<count_operations>},
    {":roofline", "EXPR", Takes::Expression, About::Measure,
     "what each kernel reaches of what the machine can do", as_command<show_roofline>},
    {":memory", "", Takes::None, About::Measure, "what the session and its values keep in memory, by kind",
     as_command<show_memory>},

    {":grad", "@f", Takes::Definition, About::Gradients, "the gradient of @f as a definition",
     as_command<show_gradient>},
    {":check-grad", "@f(ARGS)", Takes::Expression, About::Gradients,
     "the gradient of @f beside central differences", as_command<check_gradient>},
    {":probe", "@f(ARGS) %y", Takes::Expression, About::Gradients,
     "the values of a variable inside of a call; `@f %y`: of the last call", as_command<probe_variable>},
    {":nan", "EXPR", Takes::Expression, About::Gradients,
     "the first operator that makes a NaN or an infinity", as_command<find_nan>},

    {":load", "FILE", Takes::File, About::Session, "run the statements of a file here", as_command<load>},
    {":reload", "", Takes::None, About::Session, "read the files that are imported again",
     as_command<reload>},
    {":undo", "", Takes::None, About::Session, "take the last input back", as_command<undo>},
    {":save", "FILE", Takes::File, About::Session, "write the inputs as a script", as_command<save_inputs>},
    {":replay", "FILE", Takes::File, About::Session, "type what is in a file, up to the first mistake",
     as_command<replay_inputs>},
    {":edit", "[NAME]", Takes::Name, About::Session, "open $EDITOR on a definition, or on the last input",
     as_command<edit_input>},
    {":set", "[NAME [VALUE]]", Takes::Setting, About::Session, "show or change a setting",
     as_command<change_setting>},
    {":!", "COMMAND", Takes::Shell, About::Session, "run a command of the shell", as_command<run_shell>},
    {":reset", "", Takes::None, About::Session, "forget everything", as_command<reset>},
    {":help", "[COMMAND]", Takes::Command, About::Session, "this list", help},
    {":quit", "", Takes::None, About::Session, "end the session (also Ctrl-D)", quit},
};

std::string_view heading(CommandGroup group) {
  switch (group) {
    case About::Look: return "Look";
    case About::Pictures: return "Pictures of values";
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

/// The command of a name, of which the first letters do where they are those of one command; else null, and
/// those that begin so.
const ReplCommand* find_command(std::string_view name, std::vector<std::string>& begin_so) {
  if (name == ":h") name = ":help";
  const ReplCommand* found = nullptr;
  for (const ReplCommand& command : kCommands) {
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
  for (const ReplCommand& c : kCommands) names.emplace_back(c.name);
  auto meant = did_you_mean(name, names);
  return meant ? fmt::format("unknown command `{}`; did you mean `{}`?", name, *meant)
               : fmt::format("unknown command `{}`; `:help` lists them", name);
}

CommandOutcome help(Workspace&, const std::string& asked) {
  if (!asked.empty()) {
    const std::string name = asked.starts_with(':') ? asked : ":" + asked;
    std::vector<std::string> begin_so;
    const ReplCommand* command = find_command(name, begin_so);
    if (!command) return refuse(unknown_command(name, begin_so));
    fmt::print("{} {}\n  {}\n", command->name, command->arguments, command->help);
    return CommandOutcome::Fine;
  }
  size_t width = 0;
  for (const ReplCommand& c : kCommands) width = std::max(width, c.name.size() + 1 + c.arguments.size());
  std::optional<CommandGroup> group;
  for (const ReplCommand& c : kCommands) {
    if (group != c.group) fmt::print("{}{}\n", group ? "\n" : "", heading(c.group));
    group = c.group;
    fmt::print("  {:<{}}  {}\n", fmt::format("{} {}", c.name, c.arguments), width, c.help);
  }
  fmt::print(
      "\nThe first letters of a command do: `:mem`. `?NAME` and `NAME?` are `:doc NAME`.\n"
      "Anything else is the language: an expression prints its value; `let`, `def`, `op` and `type` name "
      "things.\n"
      "The values of expressions are `%_1`, `%_2`, … in the order in which they were shown, the last one is "
      "`%_`.\n"
      "An input goes on over lines while brackets are open; Ctrl-C drops it.\n");
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

/// The line that an input without a colon means: `exit`, `nn.dense?`; nothing of one that is a text.
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

/// A command without its colon, which is no text of the language.
std::optional<std::string_view> command_without_colon(std::string_view input) {
  for (const ReplCommand& command : kCommands)
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

std::span<const ReplCommand> repl_commands() { return kCommands; }

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
