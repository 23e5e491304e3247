#pragma once
// Completion in the argument of a command: files, stages, passes, settings, codes of diagnostics, commands.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/commands/commands.h"
#include "repl/editor/assistant.h"
#include "repl/settings/settings.h"

namespace quern {

/// The completions of the word before the cursor in an argument that begins at `begin`, with a line of help for each in
/// `help`; nothing where the argument, or this part of it, is an expression.
std::optional<editor::Completions> complete_argument(const ReplCommand& command, const Settings& settings,
                                                     std::string_view text, size_t begin, size_t cursor,
                                                     std::vector<std::string>& help);

}  // namespace quern
