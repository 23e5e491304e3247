#include "repl/assistant.h"

#include <algorithm>
#include <cctype>

#include "ide/alignment.h"
#include "ide/brackets.h"
#include "ide/signature_help.h"
#include "ide/tokens.h"
#include "repl/command_completion.h"
#include "repl/commands/commands.h"
#include "repl/input.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

namespace {

using editor::Style;
using editor::StyledLine;
using editor::StyledRange;

Style style_of(const ide::Token& token) {
  if (token.unresolved) return Style::Wrong;
  switch (token.kind) {
    case ide::TokenKind::Comment: return Style::Comment;
    case ide::TokenKind::Keyword: return Style::Keyword;
    case ide::TokenKind::Number: return Style::Number;
    case ide::TokenKind::String: return Style::String;
    case ide::TokenKind::Variable: return Style::Variable;
    case ide::TokenKind::Definition:
    case ide::TokenKind::Static: return Style::Definition;
    case ide::TokenKind::Operator: return Style::Operator;
    case ide::TokenKind::Constructor:
    case ide::TokenKind::Type: return Style::Type;
    case ide::TokenKind::Field: return Style::Field;
    case ide::TokenKind::Attribute: return Style::Attribute;
    case ide::TokenKind::TypeParameter:
    case ide::TokenKind::Index: return Style::Dim;
    case ide::TokenKind::Module: return Style::Field;
    case ide::TokenKind::Symbol:
    case ide::TokenKind::Bracket:
    case ide::TokenKind::Unknown: return Style::Plain;
  }
  return Style::Plain;
}

// The offset of a command's argument; 0 if the text is no command, npos while its name is being typed.
size_t argument_begin(std::string_view text) {
  if (!text.starts_with(':')) return 0;
  const size_t space = text.find_first_of(" \t\n");
  return space == std::string_view::npos ? space : space + 1;
}

// Replaces the styles of a range.
void restyle(std::vector<StyledRange>& styles, Range range, Style style) {
  const size_t begin = range.begin, end = range.end;
  std::vector<StyledRange> changed;
  for (const StyledRange& s : styles) {
    if (s.begin < begin) changed.push_back({s.begin, std::min(s.end, begin), s.style});
    if (s.end > end) changed.push_back({std::max(s.begin, end), s.end, s.style});
  }
  changed.push_back({begin, end, style});
  std::ranges::sort(changed, {}, &StyledRange::begin);
  styles = std::move(changed);
}

// A signature abbreviated around its active parameter: parameters far before it are omitted.
StyledLine signature_line(const ide::SignatureHelp& help) {
  constexpr size_t kFar = 48;
  const std::string& line = help.line;
  if (!help.active || *help.active >= help.parameters.size()) return {{line, Style::Hint}};
  const Range active = help.parameters[*help.active];
  size_t before = 0;
  StyledLine shown;
  if (active.begin > kFar && *help.active > 0) {
    const size_t open = help.parameters[0].begin;
    shown.push_back({line.substr(0, open) + "…, ", Style::Hint});
    before = active.begin;
  }
  shown.push_back({line.substr(before, active.begin - before), Style::Hint});
  shown.push_back({line.substr(active.begin, active.end - active.begin), Style::Strong});
  shown.push_back({line.substr(active.end), Style::Hint});
  return shown;
}

/// The command whose argument is being typed; null if the text is no command or an unknown one.
const ReplCommand* command_of(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of(" \t\n"));
  const auto commands = repl_commands();
  const auto found = std::ranges::find(commands, name, &ReplCommand::name);
  return found == commands.end() ? nullptr : &*found;
}

/// Whether an input is the language, or a command about a part of it.
bool takes_language(std::string_view text) {
  const std::string_view word = trimmed(text);
  if (word == "exit" || word == "quit") return false;
  const ReplCommand* command = text.starts_with(':') ? command_of(text) : nullptr;
  if (!command) return true;
  switch (command->argument) {
    case ArgumentKind::Expression:
    case ArgumentKind::Definition:
    case ArgumentKind::Name: return true;
    default: return false;
  }
}

}  // namespace

bool LanguageAssistant::needs_more(std::string_view text, bool blank_line) {
  return quern::needs_more(text, blank_line);
}

std::vector<StyledRange> LanguageAssistant::styles(std::string_view text, size_t cursor) {
  const size_t begin = argument_begin(text);
  std::vector<StyledRange> styles;
  if (begin > 0) {
    const std::string_view name = text.substr(0, text.find_first_of(" \t\n"));
    const auto begins_so = [&](const ReplCommand& command) { return command.name.starts_with(name); };
    const bool is_command =
        name == ":h" || name.starts_with(":!") || std::ranges::any_of(repl_commands(), begins_so);
    styles.push_back({0, std::min(begin, text.size()), is_command ? Style::Keyword : Style::Wrong});
  }
  if (begin >= text.size() || !takes_language(text)) return styles;
  const std::string_view code = text.substr(begin);
  const auto shifted = [&](Range range) {
    const auto by = static_cast<uint32_t>(begin);
    return Range{range.begin + by, range.end + by};
  };
  for (const ide::Token& token : ide::tokens(workspace_.session(), workspace_.module(), code)) {
    const Range range = shifted(token.range);
    if (const Style style = style_of(token); style != Style::Plain)
      styles.push_back({range.begin, range.end, style});
  }
  if (cursor < begin) return styles;
  if (const auto pair = ide::bracket_at(code, static_cast<uint32_t>(cursor - begin))) {
    if (pair->partner) {
      restyle(styles, shifted(pair->bracket), Style::Bracket);
      restyle(styles, shifted(*pair->partner), Style::Bracket);
    } else if (std::string_view(")]}").find(code[pair->bracket.begin]) != std::string_view::npos) {
      restyle(styles, shifted(pair->bracket), Style::Wrong);
    }
  }
  return styles;
}

editor::Completions LanguageAssistant::complete(std::string_view text, size_t cursor) {
  latest_.clear();
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
  const ReplCommand* command = begin == 0 ? nullptr : command_of(text);
  if (command)
    if (auto argument =
            complete_argument(*command, workspace_.settings(), text, begin, cursor, commands_help_))
      return *argument;
  ide::CompletionList list = ide::complete(workspace_.session(), workspace_.module(), text.substr(begin),
                                           static_cast<uint32_t>(cursor - begin));
  found.begin = list.replaced.begin + begin;
  found.end = list.replaced.end + begin;
  for (const ide::CompletionItem& item : list.items)
    found.items.push_back({item.label, item.inserted, item.detail});
  latest_ = std::move(list.items);
  return found;
}

std::vector<std::string> LanguageAssistant::documentation(size_t item) {
  if (item < commands_help_.size()) return {commands_help_[item]};
  if (item >= latest_.size()) return {};
  constexpr int kIndent = 5;  // of the menu
  const auto width = static_cast<size_t>(std::max(0, workspace_.style().width - kIndent));
  const std::string text =
      plain_markdown(ide::documentation_of(workspace_.session(), workspace_.module(), latest_[item]), width);
  const size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  const std::vector<std::string_view> lines = ide::lines_of(std::string_view(text).substr(begin));
  return {lines.begin(), lines.end()};
}

std::vector<StyledLine> LanguageAssistant::hint(std::string_view text, size_t cursor) {
  const size_t begin = argument_begin(text.substr(0, cursor));
  if (begin == std::string_view::npos) return {};
  const auto help = ide::signature_help(workspace_.session(), workspace_.module(), text.substr(begin),
                                        static_cast<uint32_t>(cursor - begin));
  if (!help) return {};
  std::vector<StyledLine> lines{signature_line(*help)};
  const bool says_more = !help->expected.empty() && help->line.find(help->expected) == std::string::npos;
  if (says_more) lines.push_back({{"expects ", Style::Hint}, {help->expected, Style::Strong}});
  return lines;
}

}  // namespace quern
