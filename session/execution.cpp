#include "session/execution.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <unordered_map>

#include "passes/gradient/gradient.h"
#include "session/compiler.h"
#include "session/data_values.h"

namespace quern {

namespace {

class FileHost final : public Host {
 public:
  FileHost(DataLookup lookup, std::function<void(std::string_view)> print)
      : lookup_(std::move(lookup)), print_(std::move(print)) {}

  void print(std::string_view line) override { print_(line); }
  Result<Value> load(std::string_view path, std::string_view entry, Type type) override {
    field.reset();
    return load_value((std::filesystem::path(folder) / path).string(), entry, type, lookup_, &field);
  }
  Result<Done> save(std::string_view path, const Value& value, Type type) override {
    return save_value((std::filesystem::path(folder) / path).string(), value, type, lookup_);
  }
  std::string folder;          ///< of the source whose statement runs
  std::optional<Place> field;  ///< of a record, that the last load failed for

 private:
  DataLookup lookup_;
  std::function<void(std::string_view)> print_;
};

}  // namespace

namespace {

// Definitions with functions in the place of `grad`.
class ExpandedFunctions final : public FunctionSource {
 public:
  explicit ExpandedFunctions(FunctionSource& functions) : functions_(functions) {}
  const Definition* function(uint32_t module, std::string_view name) override {
    const Definition* plain = functions_.function(module, name);
    if (!plain || !plain->body || !has_gradients(plain->body)) return plain;
    auto [known, added] = expanded_.try_emplace(plain, *plain);
    if (added) {
      auto arena = std::make_shared<Arena>();
      arena->keep(plain->arena);
      known->second.body = expand_gradients({*arena, functions_}, plain->body);
      known->second.arena = arena;
    }
    return &known->second;
  }
  const Definition* bound(const Variable* variable) override { return functions_.bound(variable); }
  std::shared_ptr<const OpInstance> instance(const OpInstance& called) override {
    std::shared_ptr<const OpInstance> plain = functions_.instance(called);
    if (!plain->function || !has_gradients(plain->function)) return plain;
    auto [known, added] = instances_.try_emplace(plain.get());
    if (added) {
      auto arena = std::make_shared<Arena>();
      arena->keep(plain->arena);
      auto expanded = std::make_shared<OpInstance>(*plain);
      expanded->function = as<FnExpr>(expand_gradients({*arena, functions_}, plain->function));
      expanded->arena = arena;
      known->second = {plain, expanded};
    }
    return known->second.second;
  }

 private:
  FunctionSource& functions_;
  using Instance = std::shared_ptr<const OpInstance>;
  std::unordered_map<const OpInstance*, std::pair<Instance, Instance>>
      instances_;  ///< as given, and expanded
  std::unordered_map<const Definition*, Definition> expanded_;
};

}  // namespace

struct Execution::Impl {
  Impl(Session& session, ModuleId module, ExecutionOptions options,
       std::function<void(std::string_view)> print)
      : session(session),
        module(module),
        options(std::move(options)),
        functions(session),
        host([&session, module](Type type) { return session.data(module, type); }, std::move(print)),
        compiler(session) {}
  ~Impl() {
    values.clear();
    collect_cycles();
  }

  Session& session;
  ModuleId module;
  ExecutionOptions options;
  SessionFunctions functions;
  FileHost host;
  Compiler compiler;
  Environment values;
  std::vector<std::shared_ptr<const Arena>> arenas;  ///< of the variables whose values are kept
  std::set<std::string> used_inputs;

  EvaluationResult evaluate(const Definition& definition) {
    if (options.interpret) return interpreted(definition);
    return compiler.evaluate(definition, values, host);
  }

  // The interpreter knows no `grad`: functions take its place before it starts, here and in what is called.
  EvaluationResult interpreted(const Definition& definition) {
    auto arena = std::make_shared<Arena>();
    arena->keep(definition.arena);
    arenas.push_back(arena);
    PassContext context{*arena, functions};
    ExpandedFunctions expanded(functions);
    return interpret(expand_gradients(context, definition.body), values, expanded, host);
  }

  StatementResult failed(DiagnosticKind kind, Place place, std::string message,
                         std::vector<Note> notes = {}) {
    return {std::nullopt, nullptr, session.locate({kind, place, std::move(message), std::move(notes)})};
  }
  static DiagnosticKind kind_of(FailureKind kind) {
    switch (kind) {
      case FailureKind::Dims: return DiagnosticKind::DimCheckFailed;
      case FailureKind::Index: return DiagnosticKind::IndexOutOfRange;
      case FailureKind::File: return DiagnosticKind::FileProblem;
      case FailureKind::NoCase:
      case FailureKind::TooDeep:
      case FailureKind::Evaluation: break;
    }
    return DiagnosticKind::EvaluationFailed;
  }
  bool is_library(const Origin& origin) const { return session.in_library(origin.declaration); }

  // One note for each call that led there, the innermost first.
  void add_calls(const EvaluationError& error, size_t first, std::vector<Note>& notes) {
    constexpr size_t kShown = 6;
    size_t shown = 0, more = error.more_calls;
    for (size_t i = first; i < error.calls.size();) {
      // A recursion comes through one place again and again: it is told once.
      size_t next = i + 1;
      while (next < error.calls.size() && error.calls[next] == error.calls[i]) ++next;
      if (shown == kShown) {
        more += next - i;
      } else if (error.calls[i].declaration && !is_library(error.calls[i])) {
        std::string times = next - i > 1 ? fmt::format(", {} times in a row", next - i) : "";
        notes.push_back({Place{error.calls[i], {}}, "called from here" + times});
        ++shown;
      }
      i = next;
    }
    if (more > 0) notes.push_back({std::nullopt, fmt::format("{} more calls led there", more)});
  }

  StatementResult failed(const EvaluationError& error, DeclarationId statement) {
    std::vector<Note> notes;
    for (const auto& [origin, text] : error.notes) notes.push_back({Place{origin, {}}, text});
    Origin origin = error.origin.declaration ? error.origin : Origin{statement, 0};
    // What fails inside the library's definition of an operator is told where the operator is called.
    size_t first = 0;
    if (is_library(origin)) {
      while (first < error.calls.size() && is_library(error.calls[first])) ++first;
      if (first < error.calls.size()) {
        notes.push_back({Place{origin, {}}, "in this definition of the library"});
        origin = error.calls[first++];
      }
    }
    add_calls(error, first, notes);
    // An assertion tells both values after its message.
    std::istringstream lines(error.message);
    std::string message, line;
    std::getline(lines, message);
    for (size_t at = 0; std::getline(lines, line); ++at)
      notes.insert(notes.begin() + static_cast<ptrdiff_t>(at), {std::nullopt, line});
    if (error.kind == FailureKind::File && host.field)
      notes.insert(notes.begin(), {host.field, "the field is declared here"});
    return failed(kind_of(error.kind), {origin, {}}, message, std::move(notes));
  }
};

Execution::Execution(Session& session, ModuleId module, ExecutionOptions options,
                     std::function<void(std::string_view)> print)
    : impl_(std::make_unique<Impl>(session, module, std::move(options), std::move(print))) {}
Execution::~Execution() = default;

StatementResult Execution::run(DeclarationId statement) {
  const Inferred& inferred = impl_->session.inferred_statement(statement);
  const Definition& definition = inferred.definition;
  // A function that is typed per rank and dtype is compiled with the statements that use it: itself it is no
  // more than its type.
  if (inferred.literal) {
    impl_->session.keep(statement);
    return {Value(new ClosureObject(definition.scheme.type)), definition.scheme.type, std::nullopt};
  }
  impl_->host.folder = impl_->session.folder(impl_->session.info(statement).source);
  const TopLevelVariable* variable = impl_->session.statement_variable(statement);
  StatementResult result{std::nullopt, definition.scheme.type, std::nullopt};
  auto input = variable ? impl_->options.inputs.find(std::string(variable->variable->name))
                        : impl_->options.inputs.end();
  if (input != impl_->options.inputs.end()) {
    impl_->used_inputs.insert(input->first);
    auto lookup = [&](Type type) { return impl_->session.data(impl_->module, type); };
    std::optional<Place> field;
    auto value = load_value(input->second, "", variable->variable->type, lookup, &field);
    std::vector<Note> notes;
    if (field) notes.push_back({field, "the field is declared here"});
    if (!value)
      return impl_->failed(DiagnosticKind::InputProblem, variable->place,
                           fmt::format("--input {}: {}", input->first, value.error().message),
                           std::move(notes));
    result.value = *value;
  } else if (!definition.body) {
    bool is_free = variable && !has_errors(inferred.diagnostics);
    if (is_free)
      return impl_->failed(
          DiagnosticKind::InputProblem, variable->place,
          fmt::format("the free variable `%{0}` has no value: give it with `--input {0}=FILE`",
                      variable->variable->name));
    return impl_->failed(DiagnosticKind::EvaluationFailed, {{statement, 0}, {}}, "this statement has errors");
  } else {
    EvaluationResult outcome = impl_->evaluate(definition);
    if (!outcome) return impl_->failed(outcome.error(), statement);
    result.value = outcome.value();
  }
  if (variable) {
    impl_->session.keep(statement);
    variable = impl_->session.statement_variable(statement);
    impl_->values.insert_or_assign(variable->variable, *result.value);
    impl_->arenas.push_back(definition.arena);
  }
  return result;
}

std::optional<StatementResult> Execution::run_main() {
  const Definition* main = impl_->session.definition(impl_->module, "main");
  auto* fn = main ? as<FnExpr>(main->body) : nullptr;
  if (!fn) return std::nullopt;
  for (const Variable* p : fn->params)
    if (!impl_->options.inputs.contains(std::string(p->name))) return std::nullopt;
  // The call as an expression of its own, its arguments variables that have the inputs' values.
  auto arena = std::make_shared<Arena>();
  arena->keep(main->arena);
  std::vector<ExprPtr> args;
  auto lookup = [&](Type type) { return impl_->session.data(impl_->module, type); };
  for (const Variable* p : fn->params) {
    const std::string& path = impl_->options.inputs.at(std::string(p->name));
    impl_->used_inputs.insert(std::string(p->name));
    auto value = load_value(path, "", p->type, lookup);
    if (!value)
      return impl_->failed(DiagnosticKind::InputProblem, {fn->origin, {}},
                           fmt::format("--input {}: {}", p->name, value.error().message));
    impl_->values.insert_or_assign(p, *value);
    args.push_back(arena->make<VarExpr>(Expr{ExprKind::Var, p->type, fn->origin}, p));
  }
  ExprPtr callee = arena->make<GlobalExpr>(
      Expr{ExprKind::Global, main->scheme.type, fn->origin}, arena->copy(std::string_view("main")),
      arena->copy(main->scheme.dim_vars), arena->copy(main->scheme.type_vars), impl_->module);
  Type type = main->scheme.type->result();
  ExprPtr call = arena->make<CallExpr>(Expr{ExprKind::Call, type, fn->origin}, callee, arena->copy(args));
  EvaluationResult outcome = impl_->evaluate({"", Scheme{{}, {}, type}, call, arena});
  if (!outcome) return impl_->failed(outcome.error(), fn->origin.declaration);
  return StatementResult{outcome.value(), type, std::nullopt};
}

std::vector<std::string> Execution::unused_inputs() const {
  std::vector<std::string> unused;
  for (auto& [name, _] : impl_->options.inputs)
    if (!impl_->used_inputs.contains(name)) unused.push_back(name);
  return unused;
}

void Execution::set_profiling(bool on) { impl_->compiler.set_profiling(on); }

Profile& Execution::profile() { return impl_->compiler.profile(); }

const Value* Execution::value_of(const Variable* variable) const {
  auto found = impl_->values.find(variable);
  return found == impl_->values.end() ? nullptr : &found->second;
}

}  // namespace quern
