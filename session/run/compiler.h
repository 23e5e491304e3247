#pragma once
// The compiled path: optimised IR, bytecode and kernels of a module, made on demand and kept.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/evaluation.h"
#include "ir/interpret/interpreter.h"
#include "jit/cache/kernel_cache.h"
#include "jit/vm/vm.h"
#include "session/session.h"

namespace quern {

/// The programs of a session's modules.
class SessionPrograms final : public ProgramSource {
 public:
  explicit SessionPrograms(Session& session) : session_(session) {}
  std::shared_ptr<const Program> program(const GlobalName& name) override;
  /// How long executions waited for them so far.
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  Session& session_;
  std::chrono::nanoseconds waited_{0};
};

class Compiler {
 public:
  explicit Compiler(Session& session, const CompilerOptions& options = CompilerOptions::from_environment());
  /// May take a quarter of a second where code is still to be written to the disk's cache.
  ~Compiler();

  /// Optimises, compiles and runs an expression whose free variables have these values.
  EvaluationResult evaluate(const Definition& definition, const Environment& values, Host& host);

  /// An expression, optimised, and the variables that it reads.
  struct Prepared {
    std::shared_ptr<const Program> program;
    std::vector<const Variable*> inputs;
    Origin origin;
  };
  /// Nothing where it is interrupted.
  std::optional<Prepared> prepare(const Definition& definition);
  /// As often as one likes, as long as the compiler lives.
  EvaluationResult run(const Prepared& prepared, const Environment& values, Host& host);
  /// How long what ran has waited for code so far: for programs of functions, and for kernels.
  std::chrono::nanoseconds waited() const;

  /// Runs a function on values of its parameters' types, as often as one likes.
  using Call = std::function<EvaluationResult(std::vector<Value> arguments, Host& host)>;
  /// @name as seen from a module, optimised now; its kernels are compiled at the first call and kept. Null
  /// with errors or without a function of that name. It is the function of now, whatever the module becomes,
  /// and works as long as the compiler lives.
  Call function(ModuleId module, std::string_view name);

  /// The stages of a definition's way, in order. "ast" is of the text alone, and not this class's.
  static const std::vector<std::string>& stages();
  static std::string unknown_stage(std::string_view stage);
  /// Why there is no stage of a definition without errors that Session::definition does not have.
  static std::string no_code_of(std::string_view name);
  /// The text of a stage of @name's or an expression's way.
  Result<std::string> stage_text(const Definition& definition, const std::string& stage);
  /// The text of what passes, and no others, make of a definition or an expression; in any order.
  Result<std::string> text_after(const Definition& definition, std::span<const std::string> passes);
  /// What is said of the name of a pass that there is not.
  static std::string unknown_pass(std::string_view name);
  /// As profiles call the kernel of a primitive.
  std::string kernel_name(const FnExpr& primitive) const;

  /// Returns when all code that runs is the best there will be, and in the cache.
  void wait_until_idle();
  const KernelCounts& kernel_counts() const;

  /// Whether calls of kernels are noted from now on, with what was noted before; at first they are not.
  void set_profiling(bool on);
  Profile& profile();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern
