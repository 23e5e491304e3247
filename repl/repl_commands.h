#pragma once
// The commands of the REPL: `:name argument`.

#include <span>
#include <string>
#include <string_view>

namespace quern {

class Workspace;

enum class CommandOutcome : unsigned char { Fine, Failed, Quit };

struct ReplCommand {
  std::string_view name;       ///< with its colon
  std::string_view arguments;  ///< for the help; one in brackets may be absent
  std::string_view help;
  CommandOutcome (*run)(Workspace& workspace, const std::string& argument);
};

std::span<const ReplCommand> repl_commands();

/// Runs a line that starts with a colon.
CommandOutcome run_command(Workspace& workspace, const std::string& line);

}  // namespace quern
