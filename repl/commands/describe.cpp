// Commands that describe what a name refers to.

#include <fmt/format.h>

#include <optional>

#include "frontend/text/source.h"
#include "ide/description.h"
#include "ide/explain.h"
#include "repl/command_files.h"
#include "repl/commands/explain.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

namespace {

/// The declaration that a name refers to; reports a name that refers to none.
std::optional<ide::Description> described(Workspace& workspace, const std::string& name) {
  auto found = ide::describe(workspace.session(), workspace.module(), name);
  if (found) return found;
  workspace.complain(ide::unknown_name(workspace.session(), workspace.module(), name).message);
  return std::nullopt;
}

/// `stdlib/nn.relay:12`
std::string place_text(Workspace& workspace, const ide::Description::Declared& declared) {
  Session& session = workspace.session();
  const std::optional<SourceId> source = session.find_source(declared.path);
  if (!source) return declared.path;
  const LineIndex lines(session.text(*source));
  return fmt::format("{}:{}", declared.path, lines.locate(declared.range.begin).line);
}

/// Explains the code of a diagnostic; with "" that of the last diagnostic shown.
bool explain_code(Workspace& workspace, const std::string& code) {
  const auto last = workspace.last_shown();
  if (code.empty() && !last)
    return workspace.complain("there was no diagnostic so far; write `:explain Q0302`");
  auto kind = code.empty() ? last : ide::kind_of_code(code);
  if (!kind) return workspace.complain(ide::unknown_code(code));
  fmt::print("{}", explain(*kind, colours_wanted(stdout)));
  return true;
}

/// Shows signature and documentation.
bool show_documentation(Workspace& workspace, const std::string& name) {
  const auto command = std::ranges::find(repl_commands(), name, &ReplCommand::name);
  if (command != repl_commands().end()) {
    fmt::print("{} {}\n\n{}\n", command->name, command->arguments, command->help);
    return true;
  }
  const auto found = described(workspace, name);
  if (!found) return false;
  if (found->kind == ide::DescribedKind::Diagnostic) return explain_code(workspace, name);
  print_line(found->signature);
  if (const std::string_view text = trimmed(found->documentation); !text.empty())
    fmt::print("\n{}", plain_markdown(text, static_cast<size_t>(workspace.style().width)));
  return true;
}

/// Shows the text of the declaration, after a line with its location.
bool show_source(Workspace& workspace, const std::string& name) {
  const auto found = described(workspace, name);
  if (!found) return false;
  if (!found->declared)
    return workspace.complain(fmt::format("`{}` is a {} of the language: it has no declaration", found->name,
                                          to_string(found->kind)));
  print_line("// " + place_text(workspace, *found->declared));
  print_line(trimmed(found->declared->text));
  return true;
}

/// Shows the file and the line of the declaration.
bool show_place(Workspace& workspace, const std::string& name) {
  const auto found = described(workspace, name);
  if (!found) return false;
  if (!found->declared)
    return workspace.complain(fmt::format("`{}` is a {} of the language: it has no declaration", found->name,
                                          to_string(found->kind)));
  print_line(place_text(workspace, *found->declared));
  return true;
}

}  // namespace

std::span<const ReplCommand> commands_to_describe() {
  static constexpr ReplCommand kRows[] = {
      {":doc", "NAME", Takes::Name, About::Look, "what an operator, a definition, a variable, a word does",
       as_command<show_documentation>},
      {":source", "NAME", Takes::Name, About::Look, "the text of its declaration", as_command<show_source>},
      {":where", "NAME", Takes::Name, About::Look, "the file and the line of its declaration",
       as_command<show_place>},
      {":explain", "[CODE]", Takes::Code, About::Look,
       "what a code such as Q0302 means; without one, that of the last diagnostic", as_command<explain_code>},
  };
  return kRows;
}

}  // namespace quern
