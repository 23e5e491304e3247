#pragma once
// Commands about inputs as texts: files, the editor, other programs.

#include <string>

namespace quern {

class Workspace;

/// Writes the inputs so far as a script. What was replaced later is left out, and results that are used by
/// number have a `let`.
bool save_inputs(Workspace& workspace, const std::string& path);
/// Types what is in a file, input by input, up to the first that fails.
bool replay_inputs(Workspace& workspace, const std::string& path);
/// Opens $EDITOR on a definition, or on the last input, and takes what is written.
bool edit_input(Workspace& workspace, const std::string& name);
/// Runs a command of the shell.
bool run_shell(Workspace& workspace, const std::string& command);
/// `NAME VALUE` sets, `NAME` shows, and nothing shows all settings.
bool change_setting(Workspace& workspace, const std::string& request);

}  // namespace quern
