#pragma once
// The state of a REPL: a module whose sources are the inputs so far, and the values of its variables.
//
// An input is a transaction: if it has an error or one of its statements fails, all of it is rolled back, including
// statements that had been evaluated and their writes to references. Output and saved files are not undone.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/value/ref_snapshot.h"
#include "repl/declared.h"
#include "repl/repl.h"
#include "repl/results.h"
#include "repl/settings/settings.h"
#include "session/run/execution.h"
#include "session/session.h"

namespace quern {

/// An input that was accepted, and the state before it.
struct TakenInput {
  SourceId source = 0;
  std::string file{};                    ///< that was loaded; else empty
  size_t results = 0;                    ///< before it
  std::map<DeclaredAs, bool> unsound{};  ///< before it; whether it waits
  RefSnapshot references{};              ///< what those that it wrote to held
  bool has_references = true;            ///< whether that is known still
};

class Workspace {
 public:
  Workspace(Session& session, const ReplOptions& options);
  ~Workspace();

  // Each of these prints its result and returns whether it succeeded.

  /// Runs statements, declarations and tests. A new declaration that uses an undeclared name waits for it; replacing a
  /// usable declaration by one that is not is an error.
  bool submit(const std::string& text);
  /// The same for the text of a file; its data files are found relative to it.
  bool load(const std::string& path);
  /// Reads imported files again.
  bool reload();
  /// Undoes the last input: restores names, types, code, values and references.
  bool undo();
  /// At the end of the inputs, reports declarations that still wait.
  bool finish();
  /// Forgets all inputs.
  void reset();
  /// Reports the failure of one of these. Each may throw an InternalFailure and then has no effect.
  void report(const InternalFailure& bug);

  // For commands and the line editor.

  Session& session() { return session_; }
  /// The module of the inputs; the next input is checked in its scope.
  ModuleId module() const { return module_; }
  Execution& execution() { return *execution_; }
  const ReplOptions& options() const { return options_; }
  Settings& settings() { return settings_; }
  /// Applies a settings file, if there is one, and reports its errors.
  void take_settings(const std::filesystem::path& file);
  /// The present style of values: by the settings, and as wide as the terminal.
  ValueStyle style() const;
  const std::vector<TakenInput>& inputs() const { return inputs_; }
  const Results& results() const { return *results_; }
  const Declared& declared() const { return declared_; }
  /// The text that `:edit NAME` was left with, where it was not taken; null if there is none.
  const std::string* rejected_edit(const std::string& name) const;
  /// An empty text forgets it.
  void keep_edit(const std::string& name, std::string text);
  /// The latest variable of a name, or null.
  const TopLevelVariable* variable_of(std::string_view name);
  /// Where @name can be used: its type after a heading, or the head of a definition that has no type apart
  /// from its calls.
  std::string type_of(std::string_view global, const std::string& heading);

  /// Adds a source with this text for the duration of `use`, and restores references afterwards.
  bool with_source(const std::string& text, const std::function<bool(SourceId)>& use);
  /// The same for a text that has to be one expression, the argument of `command`.
  bool with_expression(const std::string& text, std::string_view command,
                       const std::function<bool(DeclarationId)>& use);
  /// Prints the diagnostics of a source; true if there are none except for waiting declarations.
  bool is_sound(SourceId source);
  /// The only expression of a sound source; reports any other source.
  std::optional<DeclarationId> only_expression(SourceId source, std::string_view command);
  /// Whether statements and tests of a source reach definitions of earlier inputs, or of imported files, that
  /// are not sound; tells which.
  bool reaches_unsound(SourceId source);
  /// Prints to standard error and returns false.
  bool complain(const std::string& message) const;
  void print_problems(const std::vector<LocatedDiagnostic>& problems);
  /// The code of the last diagnostic that was shown.
  std::optional<DiagnosticKind> last_shown() const { return last_shown_; }
  void set_profiling(bool on);
  bool is_profiling() const { return is_profiling_; }

 private:
  std::string next_name();
  bool run(std::string name, std::string text, std::string folder, std::string file);
  /// Adds a source for the time of `use` or, where that is true and the source is `kept`, for good.
  /// `references`: those of before, which get what they held where the source does not stay.
  bool with_source(std::string name, std::string text, std::string folder, bool kept,
                   const RefSnapshot& references, const std::function<bool(SourceId)>& use);
  /// Runs a part of what the input of a source does; a bug of Quern is shown with the input, and makes it false.
  bool without_bug(SourceId source, const std::function<bool()>& work);
  void forget(SourceId source);
  void keep(TakenInput input);
  /// Shows the attached editor, if there is one, what an input or a loaded file evaluated to, or that it is taken back.
  void show_in_editor(const TakenInput& input, bool is_taken_back);
  bool run_statements(SourceId source);
  bool run_statement(DeclarationId statement);
  bool run_test(DeclarationId test);
  /// After a change: which declarations wait by now, are what they waited for, or have errors.
  bool tell_changes(SourceId source);
  void report_unsound(const Unsound& found);
  /// Describes a declaration that is new or `waited` so far.
  void announce(DeclarationId declaration, bool waited);
  /// Which declarations that ran are compiled again, as the source declares anew what they use.
  void announce_dependents(SourceId source);
  /// Records what a statement or a test has run.
  void note_call(DeclarationId caller);
  /// Whether a declaration replaces a usable one.
  bool replaces_sound(DeclarationId declaration) const;
  /// Reports once that an imported file has changed on the disk.
  void notice_files();

  Session& session_;
  ReplOptions options_;
  Settings settings_;
  ModuleId module_ = 0;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Results> results_;
  std::vector<SourceId> sources_;  ///< of the inputs, and of the one that is taken or looked at
  Declared declared_;
  std::map<std::string, std::string> rejected_edits_;
  std::vector<TakenInput> inputs_;
  std::vector<ShownValue> shown_;       ///< by the input that is taken
  std::map<DeclaredAs, bool> unsound_;  ///< after the last input; whether it waits
  std::set<DeclarationId> called_;  ///< definitions that ran, and were not said to be compiled again since
  std::set<std::string> outdated_;  ///< files that were reported
  std::optional<DiagnosticKind> last_shown_;
  uint32_t texts_ = 0;  ///< so far, for their names
  bool is_profiling_ = false;
};

}  // namespace quern
