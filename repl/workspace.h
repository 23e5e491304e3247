#pragma once
// What a REPL works in: a module whose sources are the inputs so far, and the values of its variables.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repl/repl.h"
#include "session/run/execution.h"
#include "session/session.h"

namespace quern {

class Workspace {
 public:
  Workspace(Session& session, const ReplOptions& options);
  ~Workspace();

  // Each of these answers on the standard outputs and says whether all was well.

  /// Statements, declarations and tests, which run. An input is a transaction: with a diagnostic, or when a
  /// statement of it fails, nothing of it stays, its statements that had been evaluated included (what they
  /// printed and saved has happened). A declaration that names what is not there yet waits for it.
  bool submit(std::string text);
  /// The same with the text of a file; its data files are looked for beside it.
  bool load(const std::string& path);
  /// Reads imported files again.
  bool reload();
  /// At the end of the inputs: what still waits is wrong.
  bool finish();
  bool show_type(const std::string& expression);
  /// `request`: an expression or `@f`, with the name of a stage in front of it or without (then it is
  /// `typed`).
  bool show_stage(const std::string& request);
  bool show_variables();
  /// What a code of a diagnostic means; with "" the last diagnostic that was shown.
  bool explain(const std::string& code);
  void show_memory();
  /// `request`: on, off or show.
  bool profile(const std::string& request);
  /// Forgets all inputs.
  void reset();
  /// Shows what ended one of these: each may throw an InternalFailure, and is then as if it had never begun.
  void report(const InternalFailure& bug);

 private:
  /// A name that inputs declare: its kind (operators are one kind, however they are defined) and itself.
  using Declared = std::pair<PieceKind, std::string>;
  /// What keeps a declaration from being used: mistakes, or that it names what is not there yet.
  struct Unsound {
    DeclarationId declaration;
    std::vector<LocatedDiagnostic> errors;
    bool waits;
  };

  std::string next_name();
  bool run(std::string name, std::string text, std::string folder);
  /// Adds a source of this text, for the time of `use` or, where that is true and the source is `kept`, for
  /// good.
  template <class Use>
  bool with_source(std::string name, std::string text, std::string folder, bool kept, const Use& use);
  /// Whether a source has no diagnostics, but for those of what waits; prints them.
  bool is_sound(SourceId source);
  /// Whether statements and tests of a source reach definitions of earlier inputs, or of imported files, that
  /// are not sound; tells which.
  bool reaches_unsound(SourceId source);
  bool run_statements(SourceId source);
  bool run_statement(DeclarationId statement);
  bool run_test(DeclarationId test);
  std::optional<DeclarationId> only_expression(SourceId source, const std::string& what);
  /// The declarations that count, by name: later inputs replace those of earlier ones.
  std::map<Declared, DeclarationId> declarations();
  Unsound unsound(DeclarationId declaration);
  /// After a change: which declarations wait by now, are what they waited for, or have errors.
  bool tell_changes(SourceId source);
  void report_unsound(const Unsound& found);
  /// What a declaration is, that is new or `waited` so far.
  void announce(DeclarationId declaration, bool waited);
  /// Tells once that an imported file is another one on the disk.
  void notice_files();
  /// The type of @name after a heading, or the head of a definition that has none apart from its calls.
  std::string type_of(std::string_view global, const std::string& heading);
  std::string shown_name(DeclarationId declaration) const;
  /// The latest variable of a name, or null.
  const TopLevelVariable* variable_of(std::string_view name);
  void print_problems(const std::vector<LocatedDiagnostic>& problems);
  bool complain(const std::string& message) const;

  Session& session_;
  ReplOptions options_;
  ModuleId module_ = 0;
  std::unique_ptr<Execution> execution_;
  std::vector<SourceId> sources_;
  std::map<Declared, bool> unsound_;  ///< after the last input; whether it waits
  std::set<std::string> outdated_;    ///< files that were reported
  std::optional<DiagnosticKind> last_shown_;
  uint32_t inputs_ = 0;
  bool is_profiling_ = false;
};

}  // namespace quern
