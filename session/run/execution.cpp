#include "session/run/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <unordered_map>

#include "ir/base/counted_work.h"
#include "ir/base/interrupt.h"
#include "ir/interpret/match.h"
#include "ir/io/mapped_file.h"
#include "passes/gradient/gradient.h"
#include "session/run/compiler.h"
#include "session/run/entry_arguments.h"
#include "session/run/function_sources.h"

namespace quern {

namespace {

/// The variable that `params` supplies.
const std::string kParams = "params";

class FileHost final : public Host {
 public:
  FileHost(DataLookup lookup, std::function<void(std::string_view)> print, const ValueStyle& style,
           bool saves, DrawCurves draw, uint64_t seed)
      : lookup_(std::move(lookup)),
        print_(std::move(print)),
        style_(style),
        saves_(saves),
        draw_(std::move(draw)),
        seed_(seed) {}

  void print(std::string_view line) override {
    if (!is_quiet) print_(line);
  }
  ValueStyle style() const override { return style_; }
  void set_style(const ValueStyle& style) { style_ = style; }
  Result<Value> load(std::string_view path, std::string_view entry, Type type) override {
    field.reset();
    const std::string file = (std::filesystem::path(folder) / path).string();
    loaded.insert(file);
    if (!is_text_file(path) || entry.empty()) return load_value(file, entry, type, lookup_, &field);
    const std::string tokens = (std::filesystem::path(folder) / entry).string();
    loaded.insert(tokens);
    return load_tokens(file, tokens, type);
  }
  Result<Done> save(std::string_view path, std::string_view tokens, const Value& value, Type type) override {
    if (is_quiet) return Done{};
    if (!saves_) return Failure{"nothing is saved here: run the program"};
    const std::string file = (std::filesystem::path(folder) / path).string();
    if (tokens.empty()) return save_value(file, value, type, draw_);
    return save_tokens(file, (std::filesystem::path(folder) / tokens).string(), value, type);
  }
  Result<std::optional<Value>> restore(std::string_view path, Type type) override {
    const std::string file = (std::filesystem::path(folder) / path).string();
    if (!std::filesystem::exists(file)) return std::optional<Value>();
    auto loaded = load(path, "", type);
    if (!loaded) return loaded.error();
    return std::optional(std::move(*loaded));
  }
  Value next_key() override { return random_key(seed_, keys_++); }
  void progress(int64_t done, int64_t all, std::string_view line) override {
    if (!is_quiet) CountedWork::report(std::string(line), done, all);
  }
  /// How many keys have been drawn.
  uint64_t keys() const { return keys_; }
  void set_keys(uint64_t keys) { keys_ = keys; }
  std::string folder;            ///< of the running statement's source
  std::optional<Place> field;    ///< the record field for which the last load failed
  std::set<std::string> loaded;  ///< accessed files, whether they exist or not
  bool is_quiet = false;         ///< prints and saves nothing

 private:
  DataLookup lookup_;
  std::function<void(std::string_view)> print_;
  ValueStyle style_;
  const bool saves_;  ///< otherwise `save` fails
  const DrawCurves draw_;
  const uint64_t seed_;  ///< of the random keys
};

}  // namespace

struct Execution::Impl {
  Impl(Session& session, ModuleId module, ExecutionOptions options,
       std::function<void(std::string_view)> print)
      : session(session),
        module(module),
        options(std::move(options)),
        functions(session.functions()),
        after(functions, this->options.after),
        host([&session, module](Type type) { return session.data(module, type); }, std::move(print),
             this->options.style, this->options.saves, this->options.draw_curves, this->options.sample_seed),
        compiler(session, this->options.compiler) {}
  ~Impl() {
    values.clear();
    collect_cycles();
  }

  Session& session;
  ModuleId module;
  ExecutionOptions options;
  FunctionSource& functions;
  FunctionsAfter after;
  FileHost host;
  Compiler compiler;
  Environment values;
  std::vector<std::shared_ptr<const Arena>> arenas;  ///< of the variables with kept values
  std::set<std::string> used_inputs;

  EvaluationResult evaluate(const Definition& definition) {
    return with_whole_files(definition, options.interpret ? interpreted(definition)
                                                          : compiler.evaluate(definition, values, host));
  }

  /// The result of an evaluation, unless a file that it read from is not whole any more.
  static EvaluationResult with_whole_files(const Definition& evaluated, EvaluationResult result) {
    const auto lost = take_lost_file();
    if (!lost) return result;
    if (result) return EvaluationError{*lost, evaluated.body->origin, {}, FailureKind::File};
    EvaluationError error = result.error();
    error.message = *lost;
    error.kind = FailureKind::File;
    return error;
  }

  // The interpreter does not support `grad`: it is replaced by functions first, here and in called
  // definitions.
  EvaluationResult interpreted(const Definition& typed, Observer* observer = nullptr) {
    const Definition definition = after.after(typed);
    auto arena = std::make_shared<Arena>();
    arena->keep(definition.arena);
    arenas.push_back(arena);
    PassContext context{*arena, functions};
    ExpandedFunctions expanded(after);
    return interpret(expand_gradients(context, definition.body, RowFunctions::RowByRow), values, expanded,
                     host, observer);
  }

  StatementResult run(DeclarationId statement);
  /// The value that an input supplies for a variable, or its failure; nothing if there is no such input.
  std::optional<StatementResult> given(const TopLevelVariable& variable);
  /// Keeps the values of a statement's variables and returns its result.
  StatementResult keep(DeclarationId statement, const Inferred& inferred, StatementResult result);
  std::optional<StatementResult> run_entry(const std::string& name, Lacking lacking);

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
  /// The file that supplies a variable's value, or null.
  const std::string* input_of(std::string_view variable) const {
    if (variable == kParams && !options.params.empty()) return &options.params;
    auto input = options.inputs.find(std::string(variable));
    return input == options.inputs.end() ? nullptr : &input->second;
  }
  /// The argument sources for an entry's parameters.
  ArgumentSources sources_of(const FnExpr& entry) {
    ArgumentSources sources{{}, {}, used_inputs.contains(kParams) ? "" : options.params, options.seed};
    for (const Variable* p : entry.params) {
      const DeclarationId statement = session.find_variable(module, p->name);
      const TopLevelVariable* bound = statement ? session.statement_variable(statement, p->name) : nullptr;
      auto value = bound ? values.find(bound->variable) : values.end();
      if (value != values.end() && bound->variable->type == p->type) {
        sources.values.emplace(p->name, value->second);
      } else if (const std::string* input = input_of(p->name)) {
        sources.files.emplace(p->name, *input);
        if (p->name == kParams) sources.by_name.clear();
      }
    }
    return sources;
  }
  /// The failure of an entry that lacks arguments, or has wrong ones.
  StatementResult wrong_inputs(const std::string& name, const FnExpr& entry,
                               const EntryArguments& arguments) {
    std::vector<Note> notes;
    for (const auto* lines : {&arguments.missing, &arguments.problems})
      for (const std::string& line : *lines) notes.push_back({std::nullopt, line});
    const size_t missing = arguments.missing.size(), wrong = arguments.problems.size();
    const auto head = static_cast<uint32_t>(std::string_view("def @").size() + name.size());
    const Place place{entry.origin, {}, Part::Head, head};
    if (missing > 0)
      return failed(DiagnosticKind::InputProblem, place,
                    fmt::format("`@{}` lacks {} of {}: give each with `--input NAME=FILE`, all by name with "
                                "`--params FILE`, or random ones with `--random SEED`",
                                name, missing == 1 ? "one input" : fmt::format("{} inputs", missing),
                                entry.params.size()),
                    std::move(notes));
    if (wrong == 1) return failed(DiagnosticKind::InputProblem, place, arguments.problems.front());
    return failed(DiagnosticKind::InputProblem, place,
                  fmt::format("{} mistakes in the inputs of `@{}`", wrong, name), std::move(notes));
  }
  bool is_library(const Origin& origin) const { return session.in_library(origin.declaration); }

  // Adds one note per call that led there, innermost first.
  void add_calls(const EvaluationError& error, size_t first, std::vector<Note>& notes) {
    constexpr size_t kShown = 6;
    size_t shown = 0, more = error.more_calls;
    for (size_t i = first; i < error.calls.size();) {
      // Recursion passes the same place repeatedly; it is shown once.
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
    // A failure inside a library operator is reported at its call.
    size_t first = 0;
    if (is_library(origin)) {
      while (first < error.calls.size() && is_library(error.calls[first])) ++first;
      if (first < error.calls.size()) {
        notes.push_back({Place{origin, {}}, "in this definition of the library"});
        origin = error.calls[first++];
      }
    }
    add_calls(error, first, notes);
    // An assertion lists both values after its message.
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
  StatementResult result;
  const CountedWork running;
  auto bug = failure_of([&] {
    Stage stage("run", {statement}, impl_->session.info(statement).name);
    result = impl_->run(statement);
  });
  return bug ? StatementResult{{}, nullptr, impl_->session.locate(*bug, statement)} : result;
}

std::optional<StatementResult> Execution::run_entry(const std::string& name, Lacking lacking) {
  std::optional<StatementResult> result;
  auto bug = failure_of([&] {
    Stage stage("run", {}, "@" + name);
    result = impl_->run_entry(name, lacking);
  });
  return bug ? StatementResult{{}, nullptr, impl_->session.locate(*bug)} : result;
}

StatementResult Execution::Impl::run(DeclarationId statement) {
  const Inferred& inferred = session.inferred_statement(statement);
  const Definition& definition = inferred.definition;
  // A function that is specialised per rank and dtype is compiled with the statements that use it; by itself
  // it is only its type.
  if (inferred.literal) {
    session.keep(statement);
    return {Value(new ClosureObject(definition.scheme.type)), definition.scheme.type, std::nullopt};
  }
  host.folder = session.folder(session.info(statement).source);
  const StatementVariables& bound = session.statement_variables(statement);
  const TopLevelVariable* variable = bound.empty() || inferred.pattern ? nullptr : bound[0].get();
  StatementResult result{std::nullopt, definition.scheme.type, std::nullopt};
  if (std::optional<StatementResult> input = variable ? given(*variable) : std::nullopt) {
    if (input->failure) return *input;
    result.value = input->value;
  } else if (!definition.body) {
    bool is_free = variable && !has_errors(inferred.diagnostics);
    if (is_free)
      return failed(DiagnosticKind::InputProblem, variable->place,
                    fmt::format("the free variable `%{0}` has no value: give it with `--input {0}=FILE`",
                                variable->variable->name));
    return failed(
        DiagnosticKind::EvaluationFailed, {{statement, 0}, {}},
        has_errors(inferred.diagnostics)
            ? "this statement has errors"
            : "what this statement uses has errors: a definition, or an imported file that is gone");
  } else {
    EvaluationResult outcome = evaluate(definition);
    if (!outcome) return failed(outcome.error(), statement);
    result.value = outcome.value();
  }
  return bound.empty() ? result : keep(statement, inferred, std::move(result));
}

std::optional<StatementResult> Execution::Impl::given(const TopLevelVariable& variable) {
  const std::string name(variable.variable->name);
  const std::string* input = input_of(name);
  if (!input) return std::nullopt;
  used_inputs.insert(name);
  auto lookup = [&](Type type) { return session.data(module, type); };
  std::optional<Place> field;
  auto value = input_value(*input, variable.variable->type, lookup, &field);
  if (value) return StatementResult{*value, variable.variable->type, std::nullopt};
  std::vector<Note> notes;
  if (field) notes.push_back({field, "the field is declared here"});
  return failed(DiagnosticKind::InputProblem, variable.place,
                fmt::format("--input {}: {}", name, value.error().message), std::move(notes));
}

StatementResult Execution::Impl::keep(DeclarationId statement, const Inferred& inferred,
                                      StatementResult result) {
  const StatementVariables bound = session.statement_variables(statement);
  std::vector<Value> parts;
  if (inferred.pattern) {
    std::vector<interpreter::PatternBinding> matched;
    QUERN_CHECK(interpreter::matches(*inferred.pattern, *result.value, matched));
    for (size_t i = 0; i < bound.size(); ++i) {
      std::optional<StatementResult> input = given(*bound[i]);
      if (input && input->failure) return *input;
      parts.push_back(input ? *input->value : matched[i].value);
    }
  } else {
    parts.push_back(*result.value);
  }
  arenas.push_back(inferred.definition.arena);
  session.keep(statement);
  for (size_t i = 0; i < bound.size(); ++i) values.insert_or_assign(bound[i]->variable, std::move(parts[i]));
  return result;
}

std::optional<StatementResult> Execution::Impl::run_entry(const std::string& name, Lacking lacking) {
  const DeclarationId declaration = session.find_definition(module, name);
  if (!declaration) return std::nullopt;
  const Definition* entry = session.definition(module, name);
  auto* fn = entry ? as<FnExpr>(entry->body) : nullptr;
  if (!fn && lacking == Lacking::IsNoEntry) return std::nullopt;
  if (!fn)
    return failed(
        DiagnosticKind::InputProblem, {{declaration, 1}, {}},
        fmt::format("`@{}` cannot be run as it stands: annotate the types of its parameters", name));
  const ArgumentSources sources = sources_of(*fn);
  const bool none_given = sources.files.empty() && sources.by_name.empty() && !sources.seed;
  if (lacking == Lacking::IsNoEntry && none_given && !fn->params.empty()) return std::nullopt;
  for (auto& [used, _] : sources.files) used_inputs.insert(used);
  if (!sources.by_name.empty() && !fn->params.empty()) used_inputs.insert(kParams);
  auto lookup = [&](Type type) { return session.data(module, type); };
  EntryArguments arguments = entry_arguments(fn->params, sources, lookup);
  if (!arguments.missing.empty() || !arguments.problems.empty()) return wrong_inputs(name, *fn, arguments);
  // The call as a separate expression whose arguments are variables with the inputs' values.
  auto arena = std::make_shared<Arena>();
  arena->keep(entry->arena);
  std::vector<ExprPtr> args;
  for (size_t i = 0; i < fn->params.size(); ++i) {
    const Variable* p = fn->params[i];
    values.insert_or_assign(p, std::move(arguments.values[i]));
    args.push_back(arena->make<VarExpr>(Expr{ExprKind::Var, p->type, fn->origin}, p));
  }
  ExprPtr callee = arena->make<GlobalExpr>(
      Expr{ExprKind::Global, entry->scheme.type, fn->origin}, arena->copy(std::string_view(name)),
      arena->copy(entry->scheme.dim_vars), arena->copy(entry->scheme.type_vars), module);
  Type type = entry->scheme.type->result();
  ExprPtr call = arena->make<CallExpr>(Expr{ExprKind::Call, type, fn->origin}, callee, arena->copy(args));
  EvaluationResult outcome = evaluate({"", Scheme{{}, {}, type}, call, arena});
  if (!outcome) return failed(outcome.error(), fn->origin.declaration);
  return StatementResult{outcome.value(), type, std::nullopt};
}

std::vector<std::string> Execution::unused_inputs() const {
  std::vector<std::string> unused;
  for (auto& [name, _] : impl_->options.inputs)
    if (!impl_->used_inputs.contains(name)) unused.push_back(name);
  if (!impl_->options.params.empty() && !impl_->used_inputs.contains(kParams)) unused.push_back(kParams);
  return unused;
}

void Execution::give(DeclarationId free_variable, Value value) {
  impl_->keep(free_variable, impl_->session.inferred_statement(free_variable),
              {std::move(value), nullptr, std::nullopt});
}

void Execution::replace(const Variable* variable, Value value) {
  impl_->values.insert_or_assign(variable, std::move(value));
}

void Execution::forget(DeclarationId statement) {
  for (const auto& variable : impl_->session.statement_variables(statement))
    impl_->values.erase(variable->variable);
}

namespace {

/// Suppresses printing, saving and the drawing of keys during its lifetime.
class QuietHost {
 public:
  QuietHost(FileHost& host, bool is_quiet) : host_(host), is_quiet_(is_quiet), keys_(host.keys()) {
    host_.is_quiet = is_quiet;
  }
  ~QuietHost() {
    host_.is_quiet = false;
    if (is_quiet_) host_.set_keys(keys_);
  }
  QuietHost(const QuietHost&) = delete;
  QuietHost& operator=(const QuietHost&) = delete;

 private:
  FileHost& host_;
  const bool is_quiet_;
  const uint64_t keys_;  ///< drawn before; what is measured draws nothing
};

}  // namespace

Execution::Repeated Execution::prepare(DeclarationId expression, Outside outside) {
  const Definition definition = impl_->session.inferred_statement(expression).definition;
  std::function<EvaluationResult()> evaluate = [this, definition] { return impl_->interpreted(definition); };
  if (!impl_->options.interpret)
    evaluate = [this, definition, prepared = impl_->compiler.prepare(definition)] {
      if (!prepared) return EvaluationResult(EvaluationError{kInterrupted, definition.body->origin, {}});
      return impl_->compiler.run(*prepared, impl_->values, impl_->host);
    };
  return [this, evaluate = std::move(evaluate), definition, expression, outside] {
    impl_->host.folder = impl_->session.folder(impl_->session.info(expression).source);
    const QuietHost quiet(impl_->host, outside == Outside::Quiet);
    const EvaluationResult outcome = Impl::with_whole_files(definition, evaluate());
    if (!outcome) return impl_->failed(outcome.error(), expression);
    return StatementResult{outcome.value(), definition.scheme.type, std::nullopt};
  };
}

StatementResult Execution::observe(DeclarationId expression, Observer& observer) {
  const Definition& definition = impl_->session.inferred_statement(expression).definition;
  impl_->host.folder = impl_->session.folder(impl_->session.info(expression).source);
  const QuietHost quiet(impl_->host, true);
  const CountedWork running;
  const EvaluationResult outcome =
      Impl::with_whole_files(definition, impl_->interpreted(definition, &observer));
  if (!outcome) return impl_->failed(outcome.error(), expression);
  return {outcome.value(), definition.scheme.type, std::nullopt};
}

const Environment& Execution::values() const { return impl_->values; }

const std::set<std::string>& Execution::loaded_files() const { return impl_->host.loaded; }

Compiler& Execution::compiler() { return impl_->compiler; }

void Execution::set_profiling(bool on) { impl_->compiler.set_profiling(on); }

void Execution::set_style(const ValueStyle& style) { impl_->host.set_style(style); }

Profile& Execution::profile() { return impl_->compiler.profile(); }

const Value* Execution::value_of(const Variable* variable) const {
  auto found = impl_->values.find(variable);
  return found == impl_->values.end() ? nullptr : &found->second;
}

}  // namespace quern
