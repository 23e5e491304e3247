// `quern run`.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "frontend/text/render.h"
#include "frontend/text/suggest.h"
#include "ir/io/mapped_file.h"
#include "jit/runtime/peaks.h"
#include "passes/pipeline.h"
#include "repl/command_files.h"
#include "repl/picture/picture_files.h"
#include "repl/progress.h"
#include "session/run/data_values.h"
#include "session/run/execution.h"
#include "session/run/profile_report.h"

namespace quern {

namespace {

std::string print_json(std::string_view line) {
  const nlohmann::json text = line;
  return fmt::format("{{\"print\": {}}}",
                     text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_profile(const Profile& profile, bool json) {
  const auto kernels = profile.kernels();
  const Peaks peaks = kernels.empty() ? Peaks() : measured_peaks();
  fmt::print(stderr, "{}", json ? profile_json(kernels, peaks) + "\n" : profile_text(kernels, peaks));
}

void show_problems(const std::vector<LocatedDiagnostic>& problems, bool json) {
  std::fflush(stdout);
  if (json) {
    fmt::print(stderr, "{}\n", render_json(problems));
  } else {
    print_diagnostics(problems);
    point_to_explanation(problems);
  }
}

// Prints the value that a run ends with, or the diagnostic instead. True if there is a value.
bool show_result(const StatementResult& result, bool json) {
  if (result.failure) {
    show_problems({*result.failure}, json);
    return false;
  }
  if (result.type->is_unit()) return true;
  const bool is_function = result.type->kind == TypeKind::Function;
  const std::string shown = !json         ? to_string(*result.value, style_wanted())
                            : is_function ? fmt::format("{{\"type\": \"{}\"}}", to_string(result.type))
                                          : fmt::format("{{\"type\": \"{}\", \"value\": {}}}",
                                                        to_string(result.type), to_json(*result.value));
  if (const auto lost = take_lost_file()) {
    say(*lost);
    return false;
  }
  fmt::print("{}\n", shown);
  return true;
}

// The type with `?` for dims that were opened.
Type as_written(Type type) {
  Substitution written;
  for_each_dim_var(type, [&](Dim dim) {
    if (dim->opened) written.dims.emplace(dim, dim_any());
  });
  return substitute(type, written);
}

}  // namespace

std::string definition_of(const std::string& name) { return name.starts_with("@") ? name.substr(1) : name; }

std::optional<ExecutionOptions> CommandLine::execution_options() const {
  ExecutionOptions options;
  options.interpret = interpret_;
  options.compiler = compiler_;
  options.style = style_wanted();
  options.draw_curves = draw_curves;
  options.params = params_;
  options.seed = seed_;
  options.sample_seed = sample_seed_;
  if (!after_.empty() && (!interpret_ || !find_stage(after_))) {
    say(fmt::format("`--after {}` goes with `--interpret`, and names a pass of the pipeline", after_));
    return std::nullopt;
  }
  if (!after_.empty()) options.after.assign(passes_to(after_).begin(), passes_to(after_).end());
  if (interpret_ && compiler_.execution.checks_nan) {
    say("`--check-nan` checks compiled kernels: leave `--interpret` out");
    return std::nullopt;
  }
  for (const std::string& input : inputs_) {
    size_t equals = input.find('=');
    if (equals == 0 || equals == std::string::npos) {
      say(fmt::format("`--input {}` has to be NAME=FILE", input));
      return std::nullopt;
    }
    options.inputs[input.substr(0, equals)] = input.substr(equals + 1);
  }
  return options;
}

const OpenedFile* CommandLine::open_program() {
  if (!text_) return open(file_);
  auto opened = open_text("<command>", *text_, stdlib_);
  if (opened) return &opened_.emplace_back(std::move(*opened));
  say(opened.error().message);
  return nullptr;
}

// The statements in order, then the entry, where the file has one; the exit code. `last` is the last value.
int CommandLine::run_statements(const OpenedFile& opened, Execution& execution,
                                std::optional<StatementResult>& last) const {
  const bool json = format_ == "json";
  Session& session = *opened.session;
  const auto statements = session.statements(opened.source);
  for (DeclarationId statement : statements) {
    StatementResult result = execution.run(statement);
    if ((session.is_expression(statement) || result.failure) && !show_result(result, json))
      return exit_code({*result.failure});
    last = std::move(result);
  }
  const std::string entry = entry_.empty() ? "main" : definition_of(entry_);
  // A script with statements of its own may declare @main for its importers.
  const bool is_script = entry_.empty() && !statements.empty();
  auto result =
      execution.run_entry(entry, is_script ? Execution::Lacking::IsNoEntry : Execution::Lacking::IsWrong);
  if (result) {
    if (!show_result(*result, json)) return exit_code({*result->failure});
    last = std::move(*result);
  } else if (!entry_.empty()) {
    complain(fmt::format("`{}` has no definition `@{}`", file_, entry));
    return kWrong;
  } else if (seed_) {
    complain("--random: the file has no `@main` whose parameters lack values");
    return kWrong;
  }
  return kFine;
}

void CommandLine::complain(const std::string& message) const {
  if (format_ != "json") return say(message);
  show_problems({LocatedDiagnostic{DiagnosticKind::InputProblem, file_, "", {}, message, {}, {}}}, true);
}

bool CommandLine::has_inputs(const OpenedFile& opened) const {
  Session& session = *opened.session;
  const std::string entry = entry_.empty() ? "main" : definition_of(entry_);
  std::vector<std::string> names;
  for (DeclarationId statement : session.statements(opened.source))
    for (const auto& variable : session.statement_variables(statement))
      names.emplace_back(variable->variable->name);
  const Definition* definition = session.definition(opened.module, entry);
  const auto* function = definition ? as<FnExpr>(definition->body) : nullptr;
  // What is wrong with such an entry is reported when it runs.
  if (!function && session.find_definition(opened.module, entry)) return true;
  if (function)
    for (const Variable* parameter : function->params) names.emplace_back(parameter->name);
  for (const std::string& input : inputs_) {
    const std::string name = input.substr(0, input.find('='));
    if (std::ranges::find(names, name) != names.end()) continue;
    const auto meant = did_you_mean(name, names);
    complain(fmt::format(
        "--input {0}: the file has no top-level variable `%{0}`, and no `@{1}` with such a parameter{2}",
        name, entry, meant ? fmt::format("; did you mean `{}`?", *meant) : ""));
    return false;
  }
  return true;
}

int CommandLine::run_program(const OpenedFile& opened, Execution& execution) const {
  const bool json = format_ == "json";
  auto problems = opened.session->check_with_imports(opened.source);
  std::erase_if(problems, [](const auto& d) { return severity_of(d.kind) == Severity::Note; });
  if (!problems.empty()) show_problems(problems, json);
  if (has_errors(problems)) return exit_code(problems);
  if (!has_inputs(opened)) return kWrong;
  std::optional<StatementResult> last;
  if (int code = run_statements(opened, execution, last); code != kFine) return code;
  for (const std::string& name : execution.unused_inputs()) {
    complain(params_.empty() || name != "params"
                 ? fmt::format("--input {}: `@main` is not run", name)
                 : "--params: the file has no top-level variable `%params`, and no `@main` with parameters");
    return kWrong;
  }
  if (!output_.empty() && last) {
    auto done = save_value(output_, *last->value, last->type, draw_curves);
    if (!done) {
      complain(done.error().message);
      return kWrong;
    }
  }
  std::fflush(stdout);
  if (profile_) print_profile(execution.profile(), json);
  return kFine;
}

// The entry's arguments from `--input`, `--params` and `--random`.
int CommandLine::show_takes(const OpenedFile& opened) const {
  Session& session = *opened.session;
  auto problems = session.check_with_imports(opened.source);
  if (has_errors(problems)) {
    show_problems(problems, format_ == "json");
    return exit_code(problems);
  }
  const std::string entry = entry_.empty() ? "main" : definition_of(entry_);
  const Definition* definition = session.definition(opened.module, entry);
  const auto* function = definition ? as<FnExpr>(definition->body) : nullptr;
  std::vector<std::pair<std::string, std::string>> parameters, variables;
  const Scheme* scheme = session.scheme(opened.module, entry);
  const std::span<const Type> types = function && scheme ? scheme->type->params() : std::span<const Type>();
  for (size_t i = 0; i < types.size(); ++i)
    parameters.emplace_back(function->params[i]->name, to_string(as_written(types[i])));
  for (DeclarationId statement : session.statements(opened.source))
    for (const auto& variable : session.statement_variables(statement))
      variables.emplace_back(variable->variable->name, to_string(variable->scheme));
  size_t width = 0;
  for (const auto* list : {&parameters, &variables})
    for (auto& [name, _] : *list) width = std::max(width, name.size());
  const auto print_list = [&](auto& list) {
    for (auto& [name, type] : list) fmt::print("  {:<{}}  {}\n", name, width, type);
  };
  if (!parameters.empty()) {
    fmt::print(
        "parameters of @{}: each from --input NAME=FILE, by name from --params FILE, or random with --random "
        "SEED\n",
        entry);
    print_list(parameters);
  } else if (function) {
    fmt::print("@{} takes nothing\n", entry);
  }
  if (!variables.empty()) {
    fmt::print("variables that --input NAME=FILE gives other values\n");
    print_list(variables);
  }
  if (!function && variables.empty()) fmt::print("the program takes nothing\n");
  return kFine;
}

int CommandLine::run_file() {
  if (file_.empty() == !text_.has_value() && !help_) {
    say("`quern run` takes a file, or a program with -c; `quern run --help` says more");
    return kMisuse;
  }
  if (help_) fmt::print("{}", app_.get_subcommand("run")->help(app_.get_name()));
  if (help_ && file_.empty() && !text_) return kFine;
  const auto options = execution_options();
  if (!options) return kMisuse;
  if (watch_ && (text_ || file_ == "-")) {
    say("`--watch` is for files");
    return kMisuse;
  }
  if (!params_.empty() && options->inputs.contains("params")) {
    say("`--params FILE` and `--input params=FILE` are for the same variable");
    return kMisuse;
  }
  const OpenedFile* opened = open_program();
  if (!opened) return kWrong;
  if (help_) return show_takes(*opened);
  if (!interpret_) warn_about_cache(compiler_.cache);
  const bool json = format_ == "json";
  ProgressLine progress;
  const ProgressLine::Input working(progress);
  Execution execution(*opened->session, opened->module, *options, [json](std::string_view line) {
    const ProgressLine::Hidden hidden;
    const std::string shown = json ? print_json(line) : std::string(line);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    std::fputc('\n', stdout);
    if (isatty(STDOUT_FILENO)) std::fflush(stdout);
  });
  execution.set_profiling(profile_);
  return watch_ ? run_and_watch(*opened, execution) : run_program(*opened, execution);
}

}  // namespace quern
