#pragma once
// The parts of the table of commands. Each part is a file with its rows and, before them, their functions; the
// groups of `:help` are in the order of the parts (commands.cpp).

#include <span>
#include <string>

#include "repl/commands/commands.h"

namespace quern {

using Takes = ArgumentKind;
using About = CommandGroup;

inline CommandOutcome outcome(bool fine) { return fine ? CommandOutcome::Fine : CommandOutcome::Failed; }

/// A command of a function that says whether all was well.
template <bool (*function)(Workspace&, const std::string&)>
CommandOutcome as_command(Workspace& workspace, const std::string& argument) {
  return outcome(function(workspace, argument));
}

/// What is there: types, shapes, variables, definitions (inspect.cpp).
std::span<const ReplCommand> commands_to_inspect();
/// What a name or a code stands for (describe.cpp).
std::span<const ReplCommand> commands_to_describe();
/// Values as pictures (pictures.cpp).
std::span<const ReplCommand> commands_of_pictures();
/// Values and functions in figures (tables.cpp).
std::span<const ReplCommand> commands_of_tables();
/// What the compiler makes of a definition or an expression (stages.cpp).
std::span<const ReplCommand> commands_about_stages();
/// How long expressions take (measure.cpp).
std::span<const ReplCommand> commands_to_measure();
/// What kernels do, what they take, what keeps them from more (kernels.cpp).
std::span<const ReplCommand> commands_about_kernels();
/// Gradients (derivative.cpp).
std::span<const ReplCommand> commands_about_gradients();
/// A run seen from inside: variables of functions, the first value that is no number (probe.cpp).
std::span<const ReplCommand> commands_to_probe();
/// Inputs as texts: files, the editor, other programs; and settings (files.cpp).
std::span<const ReplCommand> commands_about_inputs();

}  // namespace quern
