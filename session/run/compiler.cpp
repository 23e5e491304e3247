#include "session/run/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "frontend/print/printer.h"
#include "ir/base/interrupt.h"
#include "ir/base/series.h"
#include "ir/dim/arena.h"
#include "ir/expr/effects.h"
#include "jit/cache/kernel_cache.h"
#include "jit/plan/memory.h"
#include "jit/plan/storage.h"
#include "jit/schedule/lower.h"
#include "jit/vm/vm.h"
#include "passes/pipeline.h"
#include "session/run/fusion_legend.h"
#include "session/run/schedule_text.h"

namespace quern {

namespace {

// Wraps a function that is a statement's value in a block: otherwise its program would be the function's
// body.
Optimised as_value(Optimised optimised) {
  if (optimised.expr->kind != ExprKind::Fn) return optimised;
  auto arena = std::make_shared<Arena>();
  arena->keep(optimised.arena);
  ExprPtr block = arena->make<BlockExpr>(Expr{ExprKind::Block, optimised.expr->type, optimised.expr->origin},
                                         std::span<const Binding>(), optimised.expr);
  return {block, arena};
}

std::vector<const FnExpr*> primitives_of(ExprPtr expr) {
  std::vector<const FnExpr*> found;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    auto* fn = as<FnExpr>(e);
    if (fn && fn->primitive)
      found.push_back(fn);
    else
      for_each_child(e, walk);
  };
  walk(expr);
  return found;
}

/// All expressions of a primitive are where these lines come from.
void add_primitive(const FnExpr& primitive, uint32_t first, uint32_t last, LineOrigins& origins) {
  std::unordered_set<ExprPtr> seen;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    if (!e || !seen.insert(e).second) return;
    origins.push_back({first, last, e->origin});
    for_each_child(e, walk);
  };
  walk(&primitive);
}

/// The library operator that the user called, even if it is composed of others; otherwise the user's own
/// function, operator or statement.
std::string name_of(const Session& session, Origin at) {
  while (at.inlined != 0 && session.in_library(at.declaration)) {
    const Origin call = origin_of_inlined(at.inlined);
    if (call.declaration == 0 || !session.in_library(call.declaration)) break;
    at = call;
  }
  const DeclarationInfo& info = session.info(at.declaration);
  return info.part_of != 0 ? session.info(info.part_of).name : info.name;
}

/// The session's kernels, with the time executions waited for them.
class TimedKernels final : public KernelSource {
 public:
  TimedKernels(KernelCache& kernels, Session& session) : kernels_(kernels), session_(session) {}
  Result<KernelCode> kernel(const FnExpr& primitive) override {
    const auto start = std::chrono::steady_clock::now();
    auto code = with_intrinsics().kernel(primitive);
    waited_ += std::chrono::steady_clock::now() - start;
    return code;
  }
  PrepackedForms& forms() override { return kernels_.forms(); }
  Profile* profile() override { return kernels_.profile(); }
  const MachineOptions& options() const override { return kernels_.options(); }
  std::chrono::nanoseconds waited() const { return waited_; }
  /// What lowers kernels, with the library's intrinsics: a millisecond that only a session pays which lowers some.
  KernelCache& with_intrinsics() {
    if (!std::exchange(has_intrinsics_, true)) kernels_.declare(session_.dot_intrinsics());
    return kernels_;
  }

 private:
  KernelCache& kernels_;
  Session& session_;
  bool has_intrinsics_ = false;
  std::chrono::nanoseconds waited_{0};
};

/// The variables of a statement that its program takes: those that are left in the program, and those whose type has a
/// dim, which the program may ask for although it reads nothing of the variable.
std::vector<const Variable*> inputs_of(ExprPtr program, ExprPtr statement) {
  std::vector<const Variable*> inputs = free_variables(program);
  for (const Variable* variable : free_variables(statement)) {
    bool has_dim = false;
    for_each_dim_var(variable->type, [&](Dim) { has_dim = true; });
    if (has_dim && variable->type->kind != TypeKind::Function &&
        std::ranges::find(inputs, variable) == inputs.end())
      inputs.push_back(variable);
  }
  return inputs;
}

}  // namespace

std::shared_ptr<const Program> SessionPrograms::program(const GlobalName& name) {
  const auto start = std::chrono::steady_clock::now();
  auto program = session_.program(name.module, name.name);
  waited_ += std::chrono::steady_clock::now() - start;
  return program;
}

struct Compiler::Impl {
  Impl(Session& session, const CompilerOptions& options)
      : session(session),
        functions(session.functions()),
        programs(session),
        kernels(options, [&session](const Origin& origin) { return name_of(session, origin); }),
        timed_kernels(kernels, session) {
    session.leave_out(options.left_out);
    std::vector<std::string> devices;
    for (const std::shared_ptr<Device>& device : options.execution.devices) devices.push_back(device->name());
    session.set_devices(std::move(devices));
  }

  Session& session;
  FunctionSource& functions;
  SessionPrograms programs;
  KernelCache kernels;
  TimedKernels timed_kernels;
  Series statements;  ///< for programs that run once
  StatementPrograms kept;
  size_t statements_compiled = 0;

  /// Keeps the program for `find` unless `text` is empty.
  std::optional<Prepared> prepare(const Definition& definition, std::string_view text) {
    const Series::Turn turn(statements);
    RecordedFunctions recorded(functions);
    Optimised optimised = optimise(definition, text.empty() ? functions : recorded, "", session.left_out());
    if (!optimised.expr) return std::nullopt;
    optimised = as_value(std::move(optimised));
    Prepared prepared{nullptr, inputs_of(optimised.expr, definition.body), definition.body->origin};
    prepared.program = planned_program(optimised.expr, prepared.inputs, optimised.arena);
    if (!text.empty()) kept.keep(text, definition, optimised.expr, prepared, std::move(recorded));
    return prepared;
  }

  Result<std::string> kernel_text(const loops::Kernel& kernel, const std::string& stage,
                                  PrintKernel print_kernel) {
    if (stage == "loops") return print_kernel(kernel);
    auto generator = kernels.code_generator();
    if (!generator) return generator.error();
    return stage == "llvm" ? (*generator)->llvm_ir(kernel) : (*generator)->assembly(kernel);
  }

  /// From the schedule on; of the kernels of packed inputs and the primitive's own.
  Result<std::string> primitive_text(const FnExpr& primitive, const loops::MachineModel& machine,
                                     const std::string& stage, PrintKernel print_kernel) {
    auto made = loops::lower(primitive, machine);
    if (!made) return made.error();
    const loops::Lowered& lowered = *made;
    if (stage == "schedule")
      return fmt::format("// {}\n{}", name_of(session, primitive.body->origin),
                         schedule_text(session, primitive, lowered));
    std::vector<const loops::Kernel*> made_kernels;
    for (const loops::PackedInput& input : lowered.packed) made_kernels.push_back(&input.form);
    made_kernels.push_back(&lowered.kernel);
    std::string text;
    for (const loops::Kernel* kernel : made_kernels) {
      auto one = kernel_text(*kernel, stage, print_kernel);
      if (!one) return one;
      text += (text.empty() ? "" : "\n") + *one;
    }
    return text;
  }
};

Compiler::Compiler(Session& session, const CompilerOptions& options)
    : impl_(std::make_unique<Impl>(session, options)) {}
Compiler::~Compiler() = default;

void Compiler::wait_until_idle() { impl_->kernels.wait_until_idle(); }

const KernelCounts& Compiler::kernel_counts() const { return impl_->kernels.counts(); }
PrepackedForms::Size Compiler::prepacked() const { return impl_->kernels.forms().size(); }

void Compiler::set_profiling(bool on) { impl_->kernels.set_profiling(on); }

Profile& Compiler::profile() { return impl_->kernels.calls(); }

std::optional<Prepared> Compiler::prepare(const Definition& definition) {
  return impl_->prepare(definition, "");
}

EvaluationResult Compiler::run(const Prepared& prepared, const Environment& values, Host& host) {
  std::vector<Value> arguments;
  for (const Variable* input : prepared.inputs) {
    auto value = values.find(input);
    if (value == values.end())
      return EvaluationError{fmt::format("%{} has no value", input->name), prepared.origin, {}};
    arguments.push_back(value->second);
  }
  return execute(prepared.program, std::move(arguments), impl_->programs, impl_->timed_kernels, host);
}

namespace {

/// The error of a program that was made for another statement with the same text.
EvaluationError moved(EvaluationError error, DeclarationId from, DeclarationId to) {
  const auto move = [&](Origin& origin) {
    if (origin.declaration == from) origin.declaration = to;
  };
  move(error.origin);
  for (Origin& call : error.calls) move(call);
  for (auto& [origin, text] : error.notes) move(origin);
  return error;
}

}  // namespace

EvaluationResult Compiler::evaluate(const Definition& definition, const Environment& values, Host& host) {
  const DeclarationId statement = definition.body->origin.declaration;
  const std::string_view text = impl_->session.text_of(statement);
  std::optional<Prepared> prepared = impl_->kept.find(text, definition);
  if (!prepared) {
    prepared = impl_->prepare(definition, text);
    ++impl_->statements_compiled;
  }
  if (!prepared) return EvaluationError{kInterrupted, definition.body->origin, {}};
  EvaluationResult outcome = run(*prepared, values, host);
  if (outcome) return outcome;
  return moved(outcome.error(), prepared->origin.declaration, statement);
}

size_t Compiler::statements_compiled() const { return impl_->statements_compiled; }

std::chrono::nanoseconds Compiler::waited() const {
  return impl_->programs.waited() + impl_->timed_kernels.waited();
}

Compiler::Call Compiler::function(ModuleId module, std::string_view name) {
  auto program = impl_->session.program(module, name);
  if (!program) return nullptr;
  return [this, program](std::vector<Value> arguments, Host& host) {
    return execute(program, std::move(arguments), impl_->programs, impl_->timed_kernels, host);
  };
}

std::string Compiler::kernel_name(const FnExpr& primitive) const {
  return quern::kernel_name(primitive, canonical_text(primitive).text,
                            [this](const Origin& origin) { return name_of(impl_->session, origin); });
}

namespace {

std::string text_with(Definition definition, const Optimised& body, LineOrigins& origins) {
  definition.body = body.expr;
  definition.arena = body.arena;
  return print(definition, {}, origins);
}

}  // namespace

Result<std::string> Compiler::text_after(const Definition& definition, std::span<const std::string> names) {
  std::vector<Pass> passes;
  for (const std::string& name : names) {
    const Pass* pass = find_pass(name);
    if (!pass) return Failure{unknown_pass(name)};
    passes.push_back(*pass);
  }
  Optimised made = run_passes(definition, impl_->functions, passes);
  if (!made.expr) return Failure{kInterrupted};
  LineOrigins origins;
  return text_with(definition, made, origins);
}

std::string Compiler::unknown_pass(std::string_view name) {
  std::vector<std::string_view> all;
  for (const Pass& pass : pipeline()) all.push_back(pass.name);
  for (const Pass& pass : passes_on_demand()) all.push_back(pass.name);
  return fmt::format("there is no pass `{}`; the passes are {}", name, fmt::join(all, ", "));
}

Result<MemoryPlan> Compiler::memory_plan(const Definition& definition) {
  const Optimised optimised = optimise(definition, impl_->functions, "", impl_->session.left_out());
  if (!optimised.expr) return Failure{kInterrupted};
  return plan_memory(
      *planned_program(optimised.expr, inputs_of(optimised.expr, definition.body), optimised.arena));
}

Result<std::string> Compiler::stage_text(const Definition& definition, const std::string& stage,
                                         LineOrigins* asked, PrintKernel print_kernel) {
  LineOrigins unasked;
  LineOrigins& origins = asked ? *asked : unasked;
  if (stage == "typed") {
    std::string legend = fusion_legend(impl_->functions, std::array{definition.body});
    return print(definition, {}, origins) + (legend.empty() ? "" : "\n" + legend);
  }
  if (stage == "effects") {
    EffectAnalysis effects(impl_->functions);
    auto* fn = as<FnExpr>(definition.body);
    bool called = fn && !definition.name.empty();
    origins.push_back({0, 0, definition.body->origin});
    return to_string(called ? effects.of_call(*fn) : effects.of(definition.body)) + "\n";
  }
  const bool is_pass = find_stage(stage) != nullptr;
  Optimised optimised =
      optimise(definition, impl_->functions, is_pass ? stage : "", impl_->session.left_out());
  if (!optimised.expr) return Failure{kInterrupted};
  if (is_pass || stage == "fused") return text_with(definition, optimised, origins);
  if (stage == "bytecode" || stage == "plan") {
    const auto program =
        planned_program(optimised.expr, inputs_of(optimised.expr, definition.body), optimised.arena);
    if (stage == "bytecode") return to_string(*program, origins);
    const std::string plan = to_string(
        plan_memory(*program),
        [this](const FnExpr& primitive) {
          const std::string name = kernel_name(primitive);
          return name.substr(0, name.rfind('_'));
        },
        origins);
    return definition.name.empty() ? plan : fmt::format("@{}: {}", definition.name, plan);
  }
  if (stage == "schedule" || stage == "loops" || stage == "llvm" || stage == "asm") {
    auto machine = impl_->timed_kernels.with_intrinsics().machine();
    if (!machine) return machine.error();
    DimArena dims;
    const DimArena::Use use(dims);
    std::string text;
    uint32_t line = 0;
    for (const FnExpr* primitive : primitives_of(optimised.expr)) {
      if (is_interrupted()) return Failure{kInterrupted};
      auto one = impl_->primitive_text(*primitive, **machine, stage, print_kernel);
      if (!one) return one;
      if (!text.empty()) {
        text += "\n";
        ++line;
      }
      const uint32_t lines = count_line_ends(*one);
      if (lines > 0) add_primitive(*primitive, line, line + lines - 1, origins);
      line += lines;
      text += *one;
    }
    return text;
  }
  return Failure{unknown_stage(stage)};
}

const std::vector<std::string>& Compiler::stages() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"ast", "typed", "effects"};
    for (const Pass& pass : pipeline()) names.emplace_back(pass.name);
    for (const char* name : {"fused", "bytecode", "plan", "schedule", "loops", "llvm", "asm"})
      names.emplace_back(name);
    return names;
  }();
  return all;
}

std::string Compiler::no_code_of(std::string_view name) {
  return fmt::format("`@{0}` is typed anew for the arguments of each call: ask for a call, `@{0}(…)`", name);
}

std::string Compiler::unknown_stage(std::string_view stage) {
  return fmt::format("there is no stage `{}`; the stages are {}", stage, fmt::join(stages(), ", "));
}

}  // namespace quern
