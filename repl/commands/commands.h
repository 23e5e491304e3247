#pragma once
// The commands of the REPL: `:name argument`.

#include <span>
#include <string>
#include <string_view>

namespace quern {

class Workspace;

enum class CommandOutcome : unsigned char { Fine, Failed, Quit };

/// What a command takes: what may stand after its name.
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

/// What a command is about: the headings of `:help`.
enum class CommandGroup : unsigned char { Look, Pictures, Compile, Measure, Gradients, Session };

struct ReplCommand {
  std::string_view name;       ///< with its colon
  std::string_view arguments;  ///< for the help; one in brackets may be absent
  ArgumentKind argument;
  CommandGroup group;
  std::string_view help;
  CommandOutcome (*run)(Workspace& workspace, const std::string& argument);
};

std::span<const ReplCommand> repl_commands();

/// Takes one input: a line that starts with a colon, a word that stands for one (`exit`, `nn.dense?`), or a
/// text. A bug of Quern on the way is reported, and the workspace is as it was before.
CommandOutcome take_input(Workspace& workspace, const std::string& input);

}  // namespace quern
