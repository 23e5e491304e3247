#pragma once
// Runs a module's statements, for the REPL and the script runner.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/interpret/evaluation.h"
#include "ir/interpret/interpreter.h"
#include "jit/cache/kernel_cache.h"
#include "jit/vm/profile.h"
#include "passes/pipeline.h"
#include "session/run/data_values.h"
#include "session/session.h"

namespace quern {

struct ExecutionOptions {
  bool interpret = false;   ///< use the reference interpreter instead of compiled code
  std::vector<Pass> after;  ///< with `interpret`, the passes whose result is interpreted
  std::map<std::string, std::string>
      inputs;  ///< files with values for top-level variables and @main's parameters
  std::string
      params;  ///< a file for the variable or parameter %params or, if there is none, for @main's parameters
               ///< by name
  std::optional<uint64_t> seed;  ///< for random values of the rest of @main's parameters
  uint64_t sample_seed = 0;      ///< of the keys that `next_key()` draws
  bool saves = true;             ///< whether `save` may write files; otherwise it fails
  DrawCurves draw_curves{};      ///< what `save` does with the name of a picture
  CompilerOptions compiler = CompilerOptions::from_environment();  ///< without `interpret`
  ValueStyle style{};                                              ///< of printed values
};

class Compiler;

/// The outcome of one statement.
struct StatementResult {
  std::optional<Value> value;  ///< nothing on failure
  Type type = nullptr;
  std::optional<LocatedDiagnostic> failure;
};

class Execution {
 public:
  /// `print` receives the lines that the program prints.
  Execution(Session& session, ModuleId module, ExecutionOptions options,
            std::function<void(std::string_view)> print);
  ~Execution();

  /// Evaluates a statement or a test without diagnostics and keeps the values it binds. An internal failure
  /// is a failure like any other; values bound by earlier statements stay.
  StatementResult run(DeclarationId statement);
  /// What to do if the inputs have no argument of an entry.
  enum class Lacking : uint8_t { IsWrong, IsNoEntry };
  /// Evaluates the definition @name on arguments from the inputs; nothing if the module has none, or if it is
  /// not an entry.
  std::optional<StatementResult> run_entry(const std::string& name, Lacking lacking = Lacking::IsWrong);
  /// Inputs not used so far by any statement or parameter of @main; `params` appears under that name.
  std::vector<std::string> unused_inputs() const;
  /// The value of a top-level variable, or null.
  const Value* value_of(const Variable* variable) const;
  /// All kept values, including those of shadowed variables.
  const Environment& values() const;
  /// Sets the value of a statement `free_var %x: t`, which must have that type.
  void give(DeclarationId free_variable, Value value);
  /// Replaces the value of a variable by another of the same type.
  void replace(const Variable* variable, Value value);
  /// Forgets the values that a statement bound.
  void forget(DeclarationId statement);

  /// Evaluates an expression with the variables' current values, repeatedly while the module is unchanged.
  /// Prints and saves nothing if `Quiet`.
  enum class Outside : uint8_t { Real, Quiet };
  using Repeated = std::function<StatementResult()>;
  Repeated prepare(DeclarationId expression, Outside outside);
  /// Interprets an expression quietly, reporting to `observer`.
  StatementResult observe(DeclarationId expression, Observer& observer);

  /// The files that `load` has accessed so far.
  const std::set<std::string>& loaded_files() const;
  Compiler& compiler();

  /// Sets how the program prints values from now on.
  void set_style(const ValueStyle& style);

  /// As in Compiler: profiles the kernels of following statements.
  void set_profiling(bool on);
  Profile& profile();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern
