#include "repl/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "frontend/infer/infer.h"
#include "frontend/text/render.h"
#include "ir/base/interrupt.h"
#include "ir/io/mapped_file.h"
#include "ir/type/type.h"
#include "ir/value/value.h"
#include "lsp/attach/attached_server.h"
#include "repl/command_files.h"
#include "repl/picture/picture_files.h"
#include "repl/progress.h"
#include "repl/report/command_text.h"
#include "repl/settings/settings_file.h"

namespace quern {

namespace {

constexpr SourceId kNoSource = UINT32_MAX;

/// The number of inputs whose writes to references can be undone: the overwritten values stay in memory.
constexpr size_t kMostReferencesKept = 32;

bool imports(Session& session, SourceId source) {
  return std::ranges::any_of(session.declarations(source),
                             [&](DeclarationId id) { return session.info(id).kind == PieceKind::Import; });
}

bool is_same(const LocatedDiagnostic& a, const LocatedDiagnostic& b) {
  return a.kind == b.kind && a.text.data() == b.text.data() && a.range == b.range && a.message == b.message;
}

}  // namespace

Workspace::Workspace(Session& session, const ReplOptions& options)
    : session_(session), options_(options), declared_(session) {
  settings_.colour = options.colour;
  options_.execution.draw_curves = draw_curves;
  reset();
}
Workspace::~Workspace() = default;

void Workspace::reset() {
  module_ = session_.make_module();
  results_.reset();
  const auto print = [](std::string_view line) {
    const ProgressLine::Hidden hidden;
    print_line(line);
    std::fflush(stdout);
  };
  execution_ = std::make_unique<Execution>(session_, module_, options_.execution, print);
  execution_->set_profiling(is_profiling_);
  results_ = std::make_unique<Results>(session_, module_, *execution_);
  sources_.clear();
  declared_.clear();
  inputs_.clear();
  unsound_.clear();
  called_.clear();
  outdated_.clear();
}

void Workspace::set_profiling(bool on) {
  is_profiling_ = on;
  execution_->set_profiling(on);
}

std::string Workspace::next_name() { return fmt::format("<input {}>", ++texts_); }

bool Workspace::submit(const std::string& text) {
  return run(next_name(), results_->with_last(text), "", "");
}

bool Workspace::load(const std::string& path) {
  const auto edited = options_.attached ? options_.attached->text_of(path) : std::nullopt;
  auto text = edited ? Result<std::string>(*edited) : read_file(path);
  if (!text) return complain(text.error().message);
  return run(path, std::move(*text), std::filesystem::path(path).parent_path().string(), path);
}

void Workspace::show_in_editor(const TakenInput& input, bool is_taken_back) {
  const bool is_typed = input.file.empty();
  if (!options_.attached || (is_taken_back && !is_typed)) return;
  lsp::ValuesOfFile values{is_typed ? "" : std::filesystem::absolute(input.file).lexically_normal().string(),
                           session_.text(input.source),
                           {}};
  for (DeclarationId statement : session_.statements(input.source)) {
    const StatementVariables& bound = session_.statement_variables(statement);
    const TopLevelVariable* variable = bound.size() == 1 ? bound[0].get() : nullptr;
    const Value* value = variable ? execution_->value_of(variable->variable) : nullptr;
    if (!value) continue;
    ide::EvaluatedPart part{session_.range_of(statement), std::string(variable->variable->name)};
    if (!is_taken_back) part.value = ide::summary_of(*value, variable->variable->type);
    values.evaluation.parts.push_back(std::move(part));
  }
  if (!is_typed || !values.evaluation.parts.empty()) options_.attached->show(values);
}

bool Workspace::with_source(std::string name, std::string text, std::string folder, bool kept,
                            const RefSnapshot& references, const std::function<bool(SourceId)>& use) {
  if (!kept) notice_files();
  SourceId source = session_.add_source(module_, std::move(name), std::move(text), std::move(folder));
  sources_.push_back(source);
  declared_.add(source);
  const bool fine = without_bug(source, [&] { return use(source); });
  if (!fine || !kept) {
    references.restore();
    forget(source);
  }
  return fine;
}

bool Workspace::without_bug(SourceId source, const std::function<bool()>& work) {
  const std::vector<DeclarationId>& declared = session_.declarations(source);
  const DeclarationId first = declared.empty() ? 0 : declared.front();
  bool fine = false;
  const auto bug = failure_of([&] {
    const Stage stage("input", {first});
    fine = work();
  });
  if (bug) print_problems({session_.locate(*bug, first)});
  return !bug && fine;
}

/// Removes the last source with the values of its variables.
void Workspace::forget(SourceId source) {
  for (DeclarationId statement : session_.statements(source)) execution_->forget(statement);
  declared_.remove_last();
  sources_.pop_back();
  session_.remove_last_source(module_);
}

bool Workspace::with_source(const std::string& text, const std::function<bool(SourceId)>& use) {
  return with_source(next_name(), results_->with_last(text), "", false, RefSnapshot::take(), use);
}

bool Workspace::with_expression(const std::string& text, std::string_view command,
                                const std::function<bool(DeclarationId)>& use) {
  return with_source(text, [&](SourceId source) {
    auto statement = only_expression(source, command);
    if (!statement || reaches_unsound(source)) return false;
    note_call(*statement);
    return use(*statement);
  });
}

bool Workspace::run(std::string name, std::string text, std::string folder, std::string file) {
  TakenInput input{.file = std::move(file), .results = results_->count(), .unsound = unsound_};
  input.references = RefSnapshot::take();
  shown_.clear();
  auto accept = [&](SourceId source) {
    input.source = source;
    if (imports(session_, source)) session_.reread_files();
    notice_files();
    session_.check(source);  // the slow part, which may be interrupted
    const bool is_checked = !is_interrupted() || complain(kInterrupted);
    return is_checked && !reaches_unsound(source) && is_sound(source) && run_statements(source);
  };
  if (!with_source(std::move(name), std::move(text), std::move(folder), true, input.references, accept))
    return false;
  const SourceId source = input.source;
  return without_bug(source, [&] {
    keep(std::move(input));
    const bool fine = tell_changes(source);
    announce_dependents(source);
    show_in_editor(inputs_.back(), false);
    return fine;
  });
}

void Workspace::keep(TakenInput input) {
  input.references.keep_changed();
  inputs_.push_back(std::move(input));
  if (inputs_.size() > kMostReferencesKept) {
    TakenInput& old = inputs_[inputs_.size() - kMostReferencesKept - 1];
    old.has_references = old.references.is_empty();
    old.references = {};
  }
  if (inputs_.back().file.empty())
    for (const ShownValue& shown : shown_) results_->add(shown);
  shown_.clear();
}

bool Workspace::undo() {
  if (inputs_.empty()) return complain("there is no input to take back");
  TakenInput& last = inputs_.back();
  if (!last.has_references)
    return complain("the last input wrote to references, too long ago to know what they held");
  while (results_->count() > last.results) results_->remove_last();
  const std::string text(trimmed(session_.text(last.source)));
  show_in_editor(last, true);
  forget(last.source);
  last.references.restore();
  unsound_ = std::move(last.unsound);
  const std::string shown = last.file.empty() ? text.substr(0, text.find('\n')) : ":load " + last.file;
  inputs_.pop_back();
  for (const TakenInput& before : inputs_)
    if (before.file.empty()) show_in_editor(before, false);
  if (options_.interactive) print_line(fmt::format("taken back: {}", shown));
  return true;
}

bool Workspace::reload() {
  const std::vector<std::string> outdated = session_.outdated_files();
  session_.reread_files();
  outdated_.clear();
  for (const std::string& file : outdated)
    if (std::filesystem::exists(file)) print_line(fmt::format("`{}` is read again", file));
  std::vector<LocatedDiagnostic> problems;
  if (!sources_.empty())
    for (SourceId imported : session_.imported(sources_.back()))
      std::ranges::move(session_.check(imported), std::back_inserter(problems));
  print_problems(problems);
  return tell_changes(kNoSource) && !has_errors(problems);
}

bool Workspace::finish() {
  bool fine = true;
  for (auto& [declared, waits] : unsound_)
    if (waits) {
      print_problems(declared_.unsound(declared_.latest(declared)).errors);
      fine = false;
    }
  return fine;
}

void Workspace::notice_files() {
  session_.reread_data_files();
  std::set<std::string> outdated;
  for (const std::string& file : session_.outdated_files()) outdated.insert(file);
  for (const std::string& file : outdated)
    if (!outdated_.contains(file))
      complain(std::filesystem::exists(file)
                   ? fmt::format("`{}` has changed on the disk; `:reload` reads it again", file)
                   : fmt::format("`{}` is no longer on the disk", file));
  outdated_ = std::move(outdated);
}

bool Workspace::is_sound(SourceId source) {
  std::vector<LocatedDiagnostic> problems = session_.check(source);
  std::vector<DeclarationId> kept;
  for (DeclarationId id : session_.declarations(source)) {
    const Unsound found = declared_.unsound(id);
    if (!found.waits) continue;
    if (replaces_sound(id))
      kept.push_back(id);
    else
      std::erase_if(problems, [&](const LocatedDiagnostic& problem) {
        return std::ranges::any_of(found.errors, [&](const auto& d) { return is_same(d, problem); });
      });
  }
  if (is_interrupted()) return complain(kInterrupted);
  print_problems(problems);
  for (DeclarationId id : kept)
    complain(fmt::format("{} stays as it was: only what is new waits for what it names",
                         declared_.shown_name(id)));
  return !has_errors(problems);
}

bool Workspace::replaces_sound(DeclarationId declaration) const {
  return session_.info(declaration).kind != PieceKind::Test && declared_.replaced(declaration) != 0 &&
         !unsound_.contains(declared_.name_of(declaration));
}

bool Workspace::reaches_unsound(SourceId source) {
  for (DeclarationId id : session_.declarations(source)) {
    const PieceKind kind = session_.info(id).kind;
    if (kind != PieceKind::Statement && (kind != PieceKind::Test || declared_.unsound(id).waits)) continue;
    for (DeclarationId reached : session_.reached_definitions(id)) {
      // An error in this very input is reported at its place.
      if (session_.info(reached).source == source) continue;
      if (Unsound found = declared_.unsound(reached); !found.errors.empty())
        return !complain(fmt::format("{} {}: {}", declared_.shown_name(reached),
                                     found.waits ? "waits" : "has errors", found.errors[0].message));
    }
  }
  return false;
}

bool Workspace::run_statements(SourceId source) {
  for (DeclarationId statement : session_.statements(source))
    if (!run_statement(statement)) return false;
  return true;
}

void Workspace::take_settings(const std::filesystem::path& file) {
  for (const std::string& problem : load_settings(file, settings_)) complain(problem);
}

const std::string* Workspace::rejected_edit(const std::string& name) const {
  const auto found = rejected_edits_.find(name);
  return found == rejected_edits_.end() ? nullptr : &found->second;
}

void Workspace::keep_edit(const std::string& name, std::string text) {
  if (text.empty())
    rejected_edits_.erase(name);
  else
    rejected_edits_.insert_or_assign(name, std::move(text));
}

ValueStyle Workspace::style() const {
  ValueStyle style = style_wanted();
  // A session over a pipe is a script.
  style.whole = style.whole && !options_.interactive && !settings_.set_by.contains("threshold");
  if (settings_.width > 0) style.width = static_cast<int>(settings_.width);
  if (settings_.precision > 0) style.precision = static_cast<int>(settings_.precision);
  style.threshold = settings_.threshold;
  return style;
}

bool Workspace::run_statement(DeclarationId statement) {
  execution_->set_style(style());
  StatementResult result = execution_->run(statement);
  std::fflush(stdout);
  if (result.failure) {
    print_problems({*result.failure});
    return false;
  }
  if (is_interrupted()) return complain(kInterrupted);
  note_call(statement);
  if (!session_.is_expression(statement) || result.type->is_unit()) return true;
  const std::string shown = to_string(*result.value, style());
  if (is_interrupted()) return complain(kInterrupted);
  print_line(shown);
  shown_.push_back({result.type, *result.value});
  return true;
}

void Workspace::note_call(DeclarationId caller) {
  for (DeclarationId reached : session_.reached_definitions(caller)) called_.insert(reached);
}

bool Workspace::run_test(DeclarationId test) {
  StatementResult result = execution_->run(test);
  note_call(test);
  print_line(fmt::format("{} {}", result.failure ? "FAILED" : "ok    ", session_.info(test).name));
  if (result.failure) print_problems({*result.failure});
  return !result.failure;
}

bool Workspace::tell_changes(SourceId source) {
  std::vector<DeclarationId> tests;
  std::map<DeclaredAs, bool> now;
  for (auto& [id, declared] : declared_.in_order()) {
    const Unsound found = declared_.unsound(id);
    const auto before = unsound_.find(declared);
    const bool was_unsound = before != unsound_.end(), waited = was_unsound && before->second;
    const bool is_new = session_.info(id).source == source;
    if (!found.errors.empty()) {
      now.emplace(declared, found.waits);
      if (found.waits ? is_new || !waited : !was_unsound || waited) report_unsound(found);
    } else if (is_new || waited) {
      announce(id, waited);
      if (declared.first == PieceKind::Test) tests.push_back(id);
    }
  }
  unsound_ = std::move(now);
  bool fine = true;
  for (DeclarationId test : tests) fine = run_test(test) && fine;
  return fine;
}

void Workspace::report_unsound(const Unsound& found) {
  if (!found.waits) {
    complain(fmt::format("{} has errors now:", declared_.shown_name(found.declaration)));
    print_problems(found.errors);
  } else if (options_.interactive) {
    std::set<std::string> reported;
    for (const LocatedDiagnostic& d : found.errors)
      if (reported.insert(d.message).second)
        complain(fmt::format("{} waits: {}", declared_.shown_name(found.declaration), d.message));
  }
}

void Workspace::announce(DeclarationId declaration, bool waited) {
  if (!options_.interactive) return;
  const DeclarationInfo& about = session_.info(declaration);
  if (about.kind == PieceKind::Def && about.name.starts_with("@"))
    print_line(type_of(about.name.substr(1), about.name + ": "));
  else if (waited && about.kind != PieceKind::Test)
    print_line(fmt::format("{} is defined now", declared_.shown_name(declaration)));
}

void Workspace::announce_dependents(SourceId source) {
  std::vector<DeclarationId> anew;
  for (DeclarationId id : session_.declarations(source))
    if (session_.info(id).kind != PieceKind::Statement)
      if (const DeclarationId before = declared_.replaced(id)) {
        called_.erase(before);
        anew.push_back(id);
      }
  if (anew.empty() || called_.empty()) return;
  std::string names;
  for (DeclarationId id : declared_.dependents(anew))
    if (called_.erase(id) != 0 && declared_.unsound(id).errors.empty())
      names += (names.empty() ? "" : ", ") + declared_.shown_name(id);
  if (!names.empty() && options_.interactive)
    print_line(fmt::format("compiled again at the next call: {}", names));
}

std::string Workspace::type_of(std::string_view global, const std::string& heading) {
  if (const Scheme* scheme = session_.scheme(module_, global)) return heading + to_string(*scheme);
  return session_.signature(session_.find_definition(module_, global));
}

std::optional<DeclarationId> Workspace::only_expression(SourceId source, std::string_view command) {
  if (!is_sound(source)) return std::nullopt;
  std::vector<DeclarationId> statements = session_.statements(source);
  if (statements.size() == 1 && session_.trees(source).size() == 1 && session_.is_expression(statements[0]))
    return statements[0];
  complain(fmt::format("{} takes one expression", command));
  return std::nullopt;
}

const TopLevelVariable* Workspace::variable_of(std::string_view name) {
  const TopLevelVariable* latest = nullptr;
  for (DeclarationId statement : session_.statements_of_module(module_))
    for (const auto& variable : session_.statement_variables(statement))
      if (variable->variable->name == name) latest = variable.get();
  return latest;
}

void Workspace::print_problems(const std::vector<LocatedDiagnostic>& problems) {
  constexpr size_t kShown = 20;
  if (!problems.empty()) last_shown_ = problems[std::min(problems.size(), kShown) - 1].kind;
  const ProgressLine::Hidden hidden;
  std::fflush(stdout);
  const size_t width = terminal_columns(stderr);
  std::fputs(render_all(problems, settings_.colour, kShown, width).c_str(), stderr);
}

void Workspace::report(const InternalFailure& bug) { print_problems({session_.locate(bug)}); }

bool Workspace::complain(const std::string& message) const {
  const ProgressLine::Hidden hidden;
  std::fflush(stdout);
  const auto lost = message == kInterrupted ? take_lost_file() : std::nullopt;
  fmt::print(stderr, "{}\n", wrapped(lost.value_or(message), 0, terminal_columns(stderr)));
  return false;
}

}  // namespace quern
