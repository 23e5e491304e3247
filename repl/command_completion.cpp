#include "repl/command_completion.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "frontend/text/diagnostics.h"
#include "passes/pipeline.h"
#include "repl/report/command_text.h"
#include "session/run/compiler.h"

namespace quern {

namespace {

namespace fs = std::filesystem;

/// The offers for one argument, up to the cursor.
class ArgumentCompletion {
 public:
  ArgumentCompletion(std::string_view text, size_t begin, size_t cursor, std::vector<std::string>& help)
      : typed_(text.substr(begin, cursor - begin)), begin_(begin), help_(help) {
    found_.end = cursor;
    word_from(typed_.find_last_of(" \t\n,") + 1);
  }

  bool is_first_word() const { return typed_.find_first_of(" \t\n") == std::string_view::npos; }
  std::string_view word() const { return word_; }

  void offer(std::string_view what, std::string_view after = "", std::string detail = "",
             std::string_view said = "") {
    if (!what.starts_with(word_)) return;
    found_.items.push_back({std::string(what), std::string(what) + std::string(after), std::move(detail)});
    help_.emplace_back(said);
  }

  void settings(const Settings& settings) {
    word_from(typed_.find_last_of(" \t\n") + 1);
    const auto [name, rest] = first_word(typed_);
    if (name == word_ && name.data() == word_.data()) {
      for (const Setting& setting : all_settings())
        offer(setting.name, " ", value_text(settings, setting), setting.help);
    } else if (const Setting* setting = find_setting(name); setting && rest == word_) {
      for (const std::string_view value : values_of(*setting)) offer(value, "", "", setting->help);
    }
  }

  void stages() {
    for (const std::string& stage : Compiler::stages()) offer(stage, " ");
    for (const std::string_view more : {"all", "diff"}) offer(more, " ");
  }

  void passes() {
    for (const Pass& pass : pipeline()) offer(pass.name, "", "", pass.does);
    for (const Pass& pass : passes_on_demand()) offer(pass.name, "", "", pass.does);
  }

  void codes() {
    for (const DiagnosticKind kind : all_diagnostic_kinds())
      offer(code_of(kind), "", std::string(title_of(kind)));
  }

  void commands() {
    // With or without their colon.
    const size_t skipped = word_.starts_with(':') ? 0 : 1;
    for (const ReplCommand& command : repl_commands())
      offer(command.name.substr(skipped), "", std::string(command.arguments), command.help);
  }

  /// In a name that begins at `from` of what is typed; blanks are a part of names.
  void files(size_t from) {
    while (from < typed_.size() && (typed_[from] == ' ' || typed_[from] == '"')) ++from;
    const std::string_view path = typed_.substr(from);
    const size_t slash = path.rfind('/');
    const std::string folder(path.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
    word_from(from + folder.size());
    constexpr size_t kMostEntries = 2000;
    std::vector<std::pair<std::string, bool>> entries;
    std::error_code failed;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, failed), last;
         !failed && entry != last && entries.size() < kMostEntries; entry.increment(failed)) {
      std::error_code ignored;
      entries.emplace_back(entry->path().filename().string(), entry->is_directory(ignored));
    }
    std::ranges::sort(entries);
    for (const auto& [name, is_folder] : entries)
      if (!name.starts_with('.') || word_.starts_with('.')) offer(is_folder ? name + "/" : name);
  }

  editor::Completions take() { return std::move(found_); }

 private:
  void word_from(size_t from) {
    found_.begin = begin_ + from;
    word_ = typed_.substr(from);
  }

  const std::string_view typed_;
  const size_t begin_;
  std::vector<std::string>& help_;
  std::string_view word_;
  editor::Completions found_;
};

/// The beginning of a file's name behind `EXPR >`; npos where none is typed.
size_t file_after(const ReplCommand& command, std::string_view typed) {
  if (command.arguments.find("> FILE") == std::string_view::npos) return std::string_view::npos;
  const size_t at = typed.rfind('>');
  const bool is_arrow =
      at != std::string_view::npos && at > 0 && (typed[at - 1] == '=' || typed[at - 1] == '-');
  return at == std::string_view::npos || is_arrow ? std::string_view::npos : at + 1;
}

}  // namespace

std::optional<editor::Completions> complete_argument(const ReplCommand& command, const Settings& settings,
                                                     std::string_view text, size_t begin, size_t cursor,
                                                     std::vector<std::string>& help) {
  ArgumentCompletion completion(text, begin, cursor, help);
  const size_t file = file_after(command, text.substr(begin, cursor - begin));
  switch (command.argument) {
    case ArgumentKind::File: completion.files(0); break;
    case ArgumentKind::Setting: completion.settings(settings); break;
    case ArgumentKind::Code: completion.codes(); break;
    case ArgumentKind::Command: completion.commands(); break;
    case ArgumentKind::Stage:
      if (!completion.is_first_word() || completion.word().starts_with('@')) return std::nullopt;
      completion.stages();
      break;
    case ArgumentKind::Passes:
      if (completion.word().starts_with('@')) return std::nullopt;
      completion.passes();
      break;
    case ArgumentKind::Shell:
      completion.files(text.substr(begin, cursor - begin).find_last_of(" \t") + 1);
      break;
    case ArgumentKind::None: break;
    case ArgumentKind::Expression:
    case ArgumentKind::Definition:
    case ArgumentKind::Name:
      if (file == std::string_view::npos) return std::nullopt;
      completion.files(file);
      break;
  }
  editor::Completions found = completion.take();
  // An expression may begin in the place of a stage.
  if (found.items.empty() && command.argument == ArgumentKind::Stage) return std::nullopt;
  return found;
}

}  // namespace quern
