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
#include "session/execution.h"
#include "session/session.h"

namespace quern {

class Workspace {
 public:
  Workspace(Session& session, const ReplOptions& options);
  ~Workspace();

  // Each of these answers on the standard outputs and says whether all was well.

  /// Statements and declarations. An input is a transaction: with a diagnostic, or when a statement of it
  /// fails, nothing of it stays, its statements that had been evaluated included (what they printed and saved
  /// has happened).
  bool submit(std::string text);
  /// The same with the text of a file; its data files are looked for beside it.
  bool load(const std::string& path);
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

 private:
  /// A name that inputs declare: its kind (operators are one kind, however they are defined) and itself.
  using Declared = std::pair<PieceKind, std::string>;

  std::string next_name();
  bool run(std::string name, std::string text, std::string folder);
  /// Whether a source has no diagnostics; prints them.
  bool is_sound(SourceId source);
  /// Whether statements of a source reach definitions of earlier inputs that have errors by now; says so.
  bool refuse_broken(SourceId source, const std::map<Declared, std::string>& broken);
  bool evaluate(SourceId source);
  std::optional<DeclarationId> only_expression(SourceId source, const std::string& what);
  /// The declarations that count, by name: later inputs replace those of earlier ones.
  std::map<Declared, DeclarationId> declarations();
  /// Those of them with diagnostics, and the first diagnostic of each: a redefinition may not fit its
  /// dependents.
  std::map<Declared, std::string> broken();
  void announce(SourceId source);
  /// Adds `text` for the time of a question about it.
  template <class Ask>
  bool with_source(const std::string& text, Ask ask);

  void print_problems(const std::vector<LocatedDiagnostic>& problems);
  bool complain(const std::string& message) const;

  Session& session_;
  ReplOptions options_;
  ModuleId module_ = 0;
  std::unique_ptr<Execution> execution_;
  std::vector<SourceId> sources_;
  std::map<Declared, std::string> broken_;  ///< after the last input
  std::optional<DiagnosticKind> last_shown_;
  uint32_t inputs_ = 0;
  bool is_profiling_ = false;
};

}  // namespace quern
