#pragma once
// The commands of the REPL: `:name argument`.

#include <optional>
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

/// The command that an input without a colon likely means: `help`, `exit`.
std::optional<std::string_view> command_meant(std::string_view input);

/// Takes one input, a line that starts with a colon or a text. A bug of Quern on the way is reported, and the
/// workspace is as it was before.
CommandOutcome take_input(Workspace& workspace, const std::string& input);

}  // namespace quern
