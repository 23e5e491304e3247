// Commands for inputs as text: files, the editor, other programs.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "frontend/text/suggest.h"
#include "ir/base/interrupt.h"
#include "repl/command_files.h"
#include "repl/commands/parts.h"
#include "repl/editor/terminal.h"
#include "repl/input.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

namespace {

/// The inputs of a session as one text.
class Script {
 public:
  explicit Script(Workspace& workspace)
      : workspace_(workspace), session_(workspace.session()), latest_(workspace.declared().in_order()) {}

  std::string text() {
    const std::vector<TakenInput>& inputs = workspace_.inputs();
    std::string script;
    bool last_was_comment = false, last_was_statement = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      rest_.clear();
      for (size_t later = i; later < inputs.size(); ++later)
        rest_ += session_.text(inputs[later].source) + "\n";
      const std::string part = text_of(inputs[i]);
      if (part.empty()) continue;
      const bool is_comment = session_.declarations(inputs[i].source).empty();
      const bool is_statement = is_statements(inputs[i]);
      script +=
          (script.empty() || last_was_comment || (last_was_statement && is_statement) ? "" : "\n") + part;
      last_was_comment = is_comment;
      last_was_statement = is_statement && !is_comment;
    }
    return script;
  }

 private:
  /// The pieces that are in effect, each with the comments before it.
  std::string text_of(const TakenInput& input) {
    const std::string& text = session_.text(input.source);
    std::string out;
    uint32_t copied = 0;
    size_t result = input.results;
    for (DeclarationId id : session_.declarations(input.source)) {
      const DeclarationInfo& about = session_.info(id);
      const Range range = session_.range_of({{id, 0}, {}});
      uint32_t end = range.end;
      const bool is_statement = about.kind == PieceKind::Statement;
      const size_t semicolon = text.find_first_not_of(" \t\r\n", end);
      if (is_statement && semicolon != std::string::npos && text[semicolon] == ';')
        end = static_cast<uint32_t>(semicolon) + 1;
      if (is_statement || latest_.contains(id)) {
        out += text.substr(copied, range.begin - copied);
        out += statement_or_declaration(id, text.substr(range.begin, range.end - range.begin), result);
      }
      copied = end;
    }
    out += text.substr(copied);
    out = std::string(trimmed(out));
    return out.empty() ? out : out + "\n";
  }

  std::string statement_or_declaration(DeclarationId id, const std::string& text, size_t& result) {
    const DeclarationInfo& about = session_.info(id);
    if (about.kind != PieceKind::Statement) return text;
    const bool is_shown =
        session_.is_expression(id) && !session_.inferred_statement(id).definition.scheme.type->is_unit();
    if (!is_shown) return text + ";";
    const std::string name = fmt::format("_{}", ++result);
    return reads_variable(rest_, name) ? fmt::format("let %{0} = {1}; %{0};", name, text) : text + ";";
  }

  bool is_statements(const TakenInput& input) const {
    return std::ranges::all_of(session_.declarations(input.source), [&](DeclarationId id) {
      return session_.info(id).kind == PieceKind::Statement;
    });
  }

  Workspace& workspace_;
  Session& session_;
  std::map<DeclarationId, DeclaredAs> latest_;
  std::string rest_;  ///< the texts from the input on
};

bool load(Workspace& workspace, const std::string& path) {
  return workspace.load(std::string(unquoted(path)));
}
bool reload(Workspace& workspace, const std::string&) { return workspace.reload(); }
bool undo(Workspace& workspace, const std::string&) { return workspace.undo(); }

/// Writes the inputs so far as a script, without declarations that were replaced later. Results that are used by
/// number get a `let`.
bool save_inputs(Workspace& workspace, const std::string& typed) {
  const std::string path(unquoted(typed));
  if (const auto written = write_file(path, Script(workspace).text()); !written)
    return workspace.complain(written.error().message);
  if (workspace.options().interactive)
    print_line(fmt::format("{} input{} written to `{}`", workspace.inputs().size(),
                           workspace.inputs().size() == 1 ? "" : "s", path));
  return true;
}

/// Runs the contents of a file, input by input, up to the first that fails.
bool replay_inputs(Workspace& workspace, const std::string& typed) {
  const std::string path(unquoted(typed));
  auto text = read_file(path);
  if (!text) return workspace.complain(text.error().message);
  std::istringstream lines(*text);
  std::string input;
  size_t number = 0, begin = 0;
  const auto take = [&] {
    const std::string typed(trimmed(input));
    input.clear();
    if (typed.empty()) return true;
    if (workspace.options().interactive) print_line(">>> " + typed);
    if (is_interrupted()) return workspace.complain(kInterrupted);
    if (take_input(workspace, typed) == CommandOutcome::Fine) return true;
    return workspace.complain(fmt::format("`{}` is left at line {}", path, begin));
  };
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (input.empty()) begin = number;
    input += line + "\n";
    const bool is_blank = trimmed(line).empty();
    if (!needs_more(trimmed(input), is_blank) && !take()) return false;
  }
  return take();
}

/// A temporary file, removed at the end of its life.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "quern_XXXXXX.relay").string();
    const int file = mkstemps(name.data(), static_cast<int>(std::strlen(".relay")));
    if (file < 0) return;
    close(file);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  /// Empty if it could not be created.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs a shell command, which has the terminal meanwhile; its exit code.
int shell(const std::string& command) {
  const editor::OriginalMode as_it_was;
  std::fflush(stdout);
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the user's own command
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string text_to_edit(Workspace& workspace, std::string_view name) {
  Session& session = workspace.session();
  if (name.empty()) {
    const std::vector<TakenInput>& inputs = workspace.inputs();
    return inputs.empty() ? "" : session.text(inputs.back().source);
  }
  for (const auto& [id, declared] : workspace.declared().in_order()) {
    if (declared.second != name) continue;
    const Range range = session.range_of({{id, 0}, {}});
    return session.text(session.info(id).source).substr(range.begin, range.end - range.begin);
  }
  return "";
}

/// Opens $EDITOR on a definition or on the last input, and runs the edited text.
bool edit_input(Workspace& workspace, const std::string& name) {
  const std::string* rejected = workspace.rejected_edit(name);
  const std::string before(rejected ? *rejected : trimmed(text_to_edit(workspace, name)));
  if (before.empty() && !name.empty())
    return workspace.complain(fmt::format("no input declares `{}`; `:defs` lists what they declare", name));
  const char* editor = std::getenv("VISUAL");
  if (!editor || !*editor) editor = std::getenv("EDITOR");
  if (!editor || !*editor)
    return workspace.complain("no editor is set: `EDITOR=vi quern` names one in the environment");
  const TemporaryFile file(before + "\n");
  if (file.path().empty()) return workspace.complain("no temporary file can be made");
  if (const int code = shell(fmt::format("{} '{}'", editor, file.path())); code != 0)
    return workspace.complain(fmt::format("`{}` ended with {}: nothing is taken", editor, code));
  auto edited = read_file(file.path());
  if (!edited) return workspace.complain(edited.error().message);
  const std::string after(trimmed(*edited));
  if (after.empty() || (after == before && !rejected)) {
    print_line("nothing is changed");
    return true;
  }
  print_line(after);
  const bool fine = workspace.submit(after);
  workspace.keep_edit(name, fine ? "" : after);
  if (!fine) print_line(fmt::format("`:edit{}{}` opens this text again", name.empty() ? "" : " ", name));
  return fine;
}

/// Runs a command of the shell.
bool run_shell(Workspace& workspace, const std::string& command) {
  const int code = shell(command);
  return code == 0 || workspace.complain(fmt::format("the command ended with {}", code));
}

/// `NAME VALUE` sets, `NAME` shows, and nothing shows all settings.
bool change_setting(Workspace& workspace, const std::string& request) {
  const auto [name, value] = first_word(request);
  Settings& settings = workspace.settings();
  if (name.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const Setting& setting : all_settings())
      rows.push_back({std::string(setting.name), value_text(settings, setting),
                      origin_text(settings, setting), std::string(setting.help)});
    fmt::print("{}", columns_text(rows, "llll", static_cast<size_t>(workspace.style().width)));
    return true;
  }
  const Setting* setting = find_setting(name);
  if (!setting) return workspace.complain(no_such_setting(name));
  if (value.empty()) {
    fmt::print("{} is {} ({})\n  {}\n  {}; for {}\n", setting->name, value_text(settings, *setting),
               origin_text(settings, *setting), setting->help, values_text(*setting), setting->applies);
    return true;
  }
  return set(settings, *setting, value, ":set") ||
         workspace.complain(fmt::format("`{}` is {}, not `{}`", name, values_text(*setting), value));
}

}  // namespace

std::span<const ReplCommand> commands_about_inputs() {
  static constexpr ReplCommand kRows[] = {
      {":load", "FILE", Takes::File, About::Session, "run the statements of a file here", as_command<load>},
      {":reload", "", Takes::None, About::Session, "read the files that are imported again",
       as_command<reload>},
      {":undo", "", Takes::None, About::Session, "take the last input back", as_command<undo>},
      {":save", "FILE", Takes::File, About::Session, "write the inputs as a script", as_command<save_inputs>},
      {":replay", "FILE", Takes::File, About::Session, "type what is in a file, up to the first mistake",
       as_command<replay_inputs>},
      {":edit", "[NAME]", Takes::Name, About::Session, "open $EDITOR on a definition, or on the last input",
       as_command<edit_input>},
      {":set", "[NAME [VALUE]]", Takes::Setting, About::Session, "show or change a setting",
       as_command<change_setting>},
      {":!", "COMMAND", Takes::Shell, About::Session, "run a command of the shell", as_command<run_shell>},
  };
  return kRows;
}

}  // namespace quern
