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

#include "ir/base/line_origins.h"
#include "ir/interpret/evaluation.h"
#include "ir/interpret/interpreter.h"
#include "jit/cache/kernel_cache.h"
#include "jit/loops/kernel.h"
#include "jit/plan/memory.h"
#include "jit/vm/vm.h"
#include "session/run/statement_programs.h"
#include "session/session.h"

namespace quern {

/// The programs of a session's modules.
class SessionPrograms final : public ProgramSource {
 public:
  explicit SessionPrograms(Session& session) : session_(session) {}
  std::shared_ptr<const Program> program(const GlobalName& name) override;
  /// How long executions have waited for programs so far.
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  Session& session_;
  std::chrono::nanoseconds waited_{0};
};

class Compiler {
 public:
  explicit Compiler(Session& session, const CompilerOptions& options = CompilerOptions::from_environment());
  /// May take a quarter of a second if code is still to be written to the disk cache.
  ~Compiler();

  /// Optimises, compiles and runs a statement's expression, whose free variables have these values. Where the
  /// same statement was run before and no function that it uses has changed, it is only run.
  EvaluationResult evaluate(const Definition& definition, const Environment& values, Host& host);

  using Prepared = quern::Prepared;
  /// Nothing if interrupted.
  std::optional<Prepared> prepare(const Definition& definition);
  /// May be called repeatedly during the compiler's lifetime.
  EvaluationResult run(const Prepared& prepared, const Environment& values, Host& host);
  /// The number of statements that `evaluate` has compiled, without those that it has only run again.
  size_t statements_compiled() const;
  /// How long execution has waited for code so far: for programs of functions, and for kernels.
  std::chrono::nanoseconds waited() const;

  /// Runs a function on values of its parameters' types; may be called repeatedly.
  using Call = std::function<EvaluationResult(std::vector<Value> arguments, Host& host)>;
  /// @name as seen from a module, optimised now; its kernels are compiled at the first call and kept. Null if
  /// it has errors or does not exist. It stays the present function, however the module changes, and is valid
  /// during the compiler's lifetime.
  Call function(ModuleId module, std::string_view name);

  /// The stages of a definition's compilation, in order. "ast" concerns only the text, and is not handled by
  /// this class.
  static const std::vector<std::string>& stages();
  static std::string unknown_stage(std::string_view stage);
  /// Why an error-free definition that Session::definition lacks has no stages.
  static std::string no_code_of(std::string_view name);
  /// The text of a kernel at the stage `loops`.
  using PrintKernel = std::string (*)(const loops::Kernel& kernel);
  /// The text of a definition or an expression at a stage. Adds what is known of where its lines come from to
  /// `origins`: the expressions that begin on a line; from `schedule` on, for all lines of a kernel, all
  /// expressions that are fused into it.
  Result<std::string> stage_text(const Definition& definition, const std::string& stage,
                                 LineOrigins* origins = nullptr,
                                 PrintKernel print_kernel = loops::print_kernel);
  /// What the tensors of a definition or an expression take while it runs. Fails when interrupted.
  Result<MemoryPlan> memory_plan(const Definition& definition);
  /// The text of a definition or an expression after exactly these passes, in any order.
  Result<std::string> text_after(const Definition& definition, std::span<const std::string> passes);
  /// The message for an unknown pass name.
  static std::string unknown_pass(std::string_view name);
  /// The name of a primitive's kernel in profiles.
  std::string kernel_name(const FnExpr& primitive) const;

  /// Returns when all code is in its final tier and in the cache.
  void wait_until_idle();
  const KernelCounts& kernel_counts() const;
  /// What kernels have packed of tensors that still exist.
  PrepackedForms::Size prepacked() const;

  /// Turns the recording of kernel calls on or off, keeping earlier records; initially off.
  void set_profiling(bool on);
  Profile& profile();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern
