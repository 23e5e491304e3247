#pragma once
// The parts of the table of commands. Each part is a file with its functions and its rows; `:help` lists the groups in
// the order of the parts (commands.cpp).

#include <span>
#include <string>

#include "repl/commands/commands.h"

namespace quern {

using Takes = ArgumentKind;
using About = CommandGroup;

inline CommandOutcome outcome(bool fine) { return fine ? CommandOutcome::Fine : CommandOutcome::Failed; }

/// Makes a command of a function that returns whether it succeeded.
template <bool (*function)(Workspace&, const std::string&)>
CommandOutcome as_command(Workspace& workspace, const std::string& argument) {
  return outcome(function(workspace, argument));
}

/// Types, shapes, variables, definitions (inspect.cpp).
std::span<const ReplCommand> commands_to_inspect();
/// The meaning of names and of codes of diagnostics (describe.cpp).
std::span<const ReplCommand> commands_to_describe();
/// Values as pictures (pictures.cpp).
std::span<const ReplCommand> commands_of_pictures();
/// Values and functions in figures (tables.cpp).
std::span<const ReplCommand> commands_of_tables();
/// What the compiler makes of a definition or an expression (stages.cpp).
std::span<const ReplCommand> commands_about_stages();
/// How long expressions take (measure.cpp).
std::span<const ReplCommand> commands_to_measure();
/// The work of kernels, their time, and what limits them (kernels.cpp).
std::span<const ReplCommand> commands_about_kernels();
/// Gradients (derivative.cpp).
std::span<const ReplCommand> commands_about_gradients();
/// The inside of a run: variables of functions, the first NaN or infinity (probe.cpp).
std::span<const ReplCommand> commands_to_probe();
/// Inputs as text: files, the editor, other programs; settings (files.cpp).
std::span<const ReplCommand> commands_about_inputs();

}  // namespace quern
