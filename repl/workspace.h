#pragma once
// What a REPL works in: a module whose sources are the inputs so far, and the values of its variables.
//
// An input is a transaction: with a diagnostic, or when a statement of it fails, nothing of it stays, its
// statements that had been evaluated and what they wrote to references included. What they printed and saved
// has happened.

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

/// An input that was taken, and what there was before it.
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

  // Each of these answers on the standard outputs and says whether all was well.

  /// Statements, declarations and tests, which run. A new declaration that names what is not there yet waits
  /// for it; one that would take the place of another that can be used is a mistake.
  bool submit(const std::string& text);
  /// The same with the text of a file; its data files are looked for beside it.
  bool load(const std::string& path);
  /// Reads imported files again.
  bool reload();
  /// Takes the last input back: names, types, code and values are as they were, and so are references.
  bool undo();
  /// At the end of the inputs: what still waits is wrong.
  bool finish();
  /// Forgets all inputs.
  void reset();
  /// Shows what ended one of these: each may throw an InternalFailure, and is then as if it had never begun.
  void report(const InternalFailure& bug);

  // What commands and the line editor work with.

  Session& session() { return session_; }
  /// Of the inputs: what they see is what the next one sees.
  ModuleId module() const { return module_; }
  Execution& execution() { return *execution_; }
  const ReplOptions& options() const { return options_; }
  Settings& settings() { return settings_; }
  /// Takes what a settings file says, where there is one; tells what is wrong in it.
  void take_settings(const std::filesystem::path& file);
  /// How values are shown now: as it is set, and as wide as the terminal.
  ValueStyle style() const;
  const std::vector<TakenInput>& inputs() const { return inputs_; }
  const Results& results() const { return *results_; }
  const Declared& declared() const { return declared_; }
  /// The latest variable of a name, or null.
  const TopLevelVariable* variable_of(std::string_view name);
  /// Where @name can be used: its type after a heading, or the head of a definition that has no type apart
  /// from its calls.
  std::string type_of(std::string_view global, const std::string& heading);

  /// Adds a source of this text for the time of `use`. References are as before afterwards.
  bool with_source(const std::string& text, const std::function<bool(SourceId)>& use);
  /// The same with a text that has to be one expression, for a command that is called `command`.
  bool with_expression(const std::string& text, std::string_view command,
                       const std::function<bool(DeclarationId)>& use);
  /// Whether a source has no diagnostics, but for those of what waits; prints them.
  bool is_sound(SourceId source);
  /// The one expression of a sound source; else says so.
  std::optional<DeclarationId> only_expression(SourceId source, std::string_view command);
  /// Whether statements and tests of a source reach definitions of earlier inputs, or of imported files, that
  /// are not sound; tells which.
  bool reaches_unsound(SourceId source);
  /// On standard error; false.
  bool complain(const std::string& message) const;
  void print_problems(const std::vector<LocatedDiagnostic>& problems);
  /// Of the last diagnostic that was shown.
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
  void forget(SourceId source);
  void keep(TakenInput input);
  /// Has the attached editor show the values of a file.
  void show_in_editor(const TakenInput& loaded);
  bool run_statements(SourceId source);
  bool run_statement(DeclarationId statement);
  bool run_test(DeclarationId test);
  /// After a change: which declarations wait by now, are what they waited for, or have errors.
  bool tell_changes(SourceId source);
  void report_unsound(const Unsound& found);
  /// What a declaration is, that is new or `waited` so far.
  void announce(DeclarationId declaration, bool waited);
  /// Which declarations that ran are compiled again, as the source declares anew what they use.
  void announce_dependents(SourceId source);
  /// What a statement or a test has run.
  void note_call(DeclarationId caller);
  /// Whether a declaration takes the place of one that could be used.
  bool replaces_sound(DeclarationId declaration) const;
  /// Tells once that an imported file is another one on the disk.
  void notice_files();

  Session& session_;
  ReplOptions options_;
  Settings settings_;
  ModuleId module_ = 0;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Results> results_;
  std::vector<SourceId> sources_;  ///< of the inputs, and of the one that is taken or looked at
  Declared declared_;
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
