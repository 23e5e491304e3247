#pragma once
// The commands of the REPL: `:name argument`.

#include <span>
#include <string>
#include <string_view>

namespace quern {

class Workspace;

enum class CommandOutcome : unsigned char { Fine, Failed, Quit };

/// The kind of argument that a command takes.
enum class ArgumentKind : unsigned char {
  None,
  Expression,  ///< of the language; also `@f`, a call, several with commas
  Definition,  ///< `@f`
  Name,        ///< of whatever has one: `nn.dense`, `@f`, `%x`, `let`
  Stage,       ///< of compilation, then an expression
  Passes,      ///< with commas, then a definition
  File,
  Setting,  ///< and its value
  Code,     ///< of a diagnostic
  Command,
  Shell,  ///< a line for the shell
};

/// The subject of a command: the headings of `:help`.
enum class CommandGroup : unsigned char { Look, Pictures, Compile, Measure, Gradients, Session };

struct ReplCommand {
  std::string_view name;       ///< with its colon
  std::string_view arguments;  ///< for the help; in brackets if optional
  ArgumentKind argument;
  CommandGroup group;
  std::string_view help;
  CommandOutcome (*run)(Workspace& workspace, const std::string& argument);
};

std::span<const ReplCommand> repl_commands();

/// Runs one input: a line that starts with a colon, a word that stands for one (`exit`, `nn.dense?`), or program
/// text. If that hits a bug of Quern, it is reported and the workspace is restored.
CommandOutcome take_input(Workspace& workspace, const std::string& input);

}  // namespace quern
