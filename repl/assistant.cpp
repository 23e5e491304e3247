#include "repl/assistant.h"

#include <algorithm>
#include <cctype>

#include "repl/commands.h"
#include "repl/input.h"
#include "repl/workspace.h"

namespace quern {

namespace {

using editor::Style;
using editor::StyledLine;
using editor::StyledRange;

// Where the text of a command's argument begins; 0 for what is no command, npos while its name is typed.
size_t argument_begin(std::string_view text) {
  if (!text.starts_with(':')) return 0;
  const size_t space = text.find_first_of(" \t\n");
  return space == std::string_view::npos ? space : space + 1;
}

}  // namespace

bool LanguageAssistant::needs_more(std::string_view text, bool blank_line) {
  return quern::needs_more(text, blank_line);
}

std::vector<StyledRange> LanguageAssistant::styles(std::string_view text, size_t) {
  const size_t begin = argument_begin(text);
  std::vector<StyledRange> styles;
  if (begin > 0) styles.push_back({0, std::min(begin, text.size()), Style::Keyword});
  return styles;
}

editor::Completions LanguageAssistant::complete(std::string_view text, size_t cursor) {
  commands_help_.clear();
  editor::Completions found;
  const size_t begin = argument_begin(text.substr(0, cursor));
  if (begin == std::string_view::npos) {
    found.end = cursor;
    for (const ReplCommand& command : repl_commands()) {
      if (!command.name.starts_with(text.substr(0, cursor))) continue;
      const bool takes_more = !command.arguments.empty();
      found.items.push_back({std::string(command.name), std::string(command.name) + (takes_more ? " " : ""),
                             std::string(command.arguments)});
      commands_help_.emplace_back(command.help);
    }
    return found;
  }
  return found;
}

std::vector<std::string> LanguageAssistant::documentation(size_t item) {
  if (item < commands_help_.size()) return {commands_help_[item]};
  return {};
}

std::vector<StyledLine> LanguageAssistant::hint(std::string_view, size_t) { return {}; }

}  // namespace quern
