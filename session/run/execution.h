#pragma once
// Running a module's statements: what the REPL and the script runner do with a session.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "ir/interpret/evaluation.h"
#include "ir/interpret/interpreter.h"
#include "jit/cache/kernel_cache.h"
#include "jit/vm/profile.h"
#include "session/session.h"

namespace quern {

struct ExecutionOptions {
  bool interpret = false;  ///< by the reference interpreter instead of compiled code
  std::string after;       ///< with `interpret`, the pass whose result is interpreted; "" for what was typed
  std::map<std::string, std::string>
      inputs;  ///< files that give top-level variables and @main's parameters their values
  std::string
      params;  ///< a file for the variable or parameter %params or, without one, for @main's by their names
  std::optional<uint64_t> seed;  ///< of random numbers for what is left of @main's parameters
  bool saves = true;             ///< whether `save` may write; else it fails
  CompilerOptions compiler = CompilerOptions::from_environment();  ///< without `interpret`
  ValueStyle style{};                                              ///< of the values that are printed
};

class Compiler;

/// How one statement ended.
struct StatementResult {
  std::optional<Value> value;  ///< nothing on failure
  Type type = nullptr;
  std::optional<LocatedDiagnostic> failure;
};

class Execution {
 public:
  /// `print` takes the lines that the program prints.
  Execution(Session& session, ModuleId module, ExecutionOptions options,
            std::function<void(std::string_view)> print);
  ~Execution();

  /// Evaluates a statement or a test that has no diagnostics and keeps the value of what it binds. A bug of
  /// Quern on the way is a failure like others; what earlier statements bound stays.
  StatementResult run(DeclarationId statement);
  /// What follows where no argument of an entry is among the inputs.
  enum class Lacking : uint8_t { IsWrong, IsNoEntry };
  /// Evaluates the definition @name, whose arguments are inputs; nothing where the module has none, or where
  /// it is no entry.
  std::optional<StatementResult> run_entry(const std::string& name, Lacking lacking = Lacking::IsWrong);
  /// Inputs that no statement and no parameter of @main has used so far; of `params` this is its name.
  std::vector<std::string> unused_inputs() const;
  /// The value of a top-level variable, or null.
  const Value* value_of(const Variable* variable) const;
  /// All values that are kept, of variables that later ones hide too.
  const Environment& values() const;
  /// Gives the variable of a statement `free_var %x: t` its value, which is of that type.
  void give(DeclarationId free_variable, Value value);
  /// Another value, of the same type, of a variable that has one.
  void replace(const Variable* variable, Value value);
  /// Forgets the value of what a statement bound.
  void forget(DeclarationId statement);

  /// Evaluates an expression, as often as one likes while the module stays as it is, with the values that
  /// variables have by then. Nothing is printed or saved where it is `Quiet`.
  enum class Outside : uint8_t { Real, Quiet };
  using Repeated = std::function<StatementResult()>;
  Repeated prepare(DeclarationId expression, Outside outside);
  /// Interprets an expression, quietly, while `observer` looks on.
  StatementResult observe(DeclarationId expression, Observer& observer);

  /// The files that `load` looked for so far.
  const std::set<std::string>& loaded_files() const;
  Compiler& compiler();

  /// How the program prints values from now on.
  void set_style(const ValueStyle& style);

  /// As of Compiler: what kernels of the statements to come take.
  void set_profiling(bool on);
  Profile& profile();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern
