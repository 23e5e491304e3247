#include "repl/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/infer/infer.h"
#include "frontend/syntax/syntax.h"
#include "frontend/text/render.h"
#include "ide/explain.h"
#include "ide/hover.h"
#include "ir/base/interrupt.h"
#include "ir/type/type.h"
#include "ir/value/value.h"
#include "repl/command_files.h"
#include "repl/explain.h"
#include "session/run/compiler.h"
#include "session/run/profile_report.h"

namespace quern {

namespace {

constexpr std::string_view kDefaultStage = "typed";
constexpr SourceId kNoSource = UINT32_MAX;

bool is_stage(std::string_view word) {
  return std::ranges::find(Compiler::stages(), word) != Compiler::stages().end();
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  });
}

// "f" of `@f`, "" of anything else.
std::string_view global_name(std::string_view text) {
  return text.starts_with('@') && is_name(text.substr(1)) ? text.substr(1) : std::string_view();
}

std::string_view trimmed(std::string_view text) {
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

void print_line(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

// Whether a mistake is a name that a later declaration may bring. Of bare names that is a constructor's.
bool may_come(const LocatedDiagnostic& d) {
  switch (d.kind) {
    case DiagnosticKind::UnknownFunction:
    case DiagnosticKind::UnknownOperator:
    case DiagnosticKind::UnknownType:
    case DiagnosticKind::UnknownStatic: return true;
    case DiagnosticKind::UnknownName:
      return d.range.begin < d.text.size() && std::isupper(static_cast<unsigned char>(d.text[d.range.begin]));
    default: return false;
  }
}

bool is_no_syntax(const std::vector<LocatedDiagnostic>& problems) {
  return std::ranges::any_of(problems, [](const auto& d) { return code_of(d.kind).starts_with("Q01"); });
}

bool imports(Session& session, SourceId source) {
  return std::ranges::any_of(session.declarations(source),
                             [&](DeclarationId id) { return session.info(id).kind == PieceKind::Import; });
}

// Declarations in the order in which they were typed.
template <class Name>
std::map<DeclarationId, Name> in_order(const std::map<Name, DeclarationId>& by_name) {
  std::map<DeclarationId, Name> by_id;
  for (auto& [name, id] : by_name) by_id.emplace(id, name);
  return by_id;
}

bool is_same(const LocatedDiagnostic& a, const LocatedDiagnostic& b) {
  return a.kind == b.kind && a.text.data() == b.text.data() && a.range == b.range && a.message == b.message;
}

}  // namespace

Workspace::Workspace(Session& session, const ReplOptions& options) : session_(session), options_(options) {
  reset();
}
Workspace::~Workspace() = default;

void Workspace::reset() {
  module_ = session_.make_module();
  execution_ = std::make_unique<Execution>(session_, module_, options_.execution, print_line);
  execution_->set_profiling(is_profiling_);
  sources_.clear();
  unsound_.clear();
  outdated_.clear();
}

bool Workspace::profile(const std::string& request) {
  if (request == "show") {
    const auto kernels = execution_->profile().kernels();
    const Peaks peaks = kernels.empty() ? Peaks() : measured_peaks();
    fmt::print("{}", profile_text(kernels, peaks));
    return true;
  }
  if (request != "on" && request != "off") return complain("write `:profile on`, `off` or `show`");
  is_profiling_ = request == "on";
  if (is_profiling_) execution_->profile().clear();
  execution_->set_profiling(is_profiling_);
  return true;
}

std::string Workspace::next_name() { return fmt::format("<input {}>", ++inputs_); }

bool Workspace::submit(std::string text) { return run(next_name(), std::move(text), ""); }

bool Workspace::load(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return complain(fmt::format("`{}` is a folder", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) return complain(fmt::format("`{}` cannot be read: {}", path, std::strerror(errno)));
  std::ostringstream text;
  text << in.rdbuf();
  return run(path, text.str(), std::filesystem::path(path).parent_path().string());
}

template <class Use>
bool Workspace::with_source(std::string name, std::string text, std::string folder, bool kept,
                            const Use& use) {
  if (!kept) notice_files();
  SourceId source = session_.add_source(module_, std::move(name), std::move(text), std::move(folder));
  sources_.push_back(source);
  bool stays = false, fine = false;
  auto bug = failure_of([&] {
    fine = use(source);
    stays = fine && kept;
  });
  if (!stays) {
    sources_.pop_back();
    session_.remove_last_source(module_);
  }
  if (bug) throw InternalFailure(*bug);
  return fine;
}

bool Workspace::run(std::string name, std::string text, std::string folder) {
  auto accept = [&](SourceId source) {
    if (imports(session_, source)) session_.reread_files();
    notice_files();
    session_.check(source);  // what takes long of it, and may be interrupted
    const bool is_checked = !is_interrupted() || complain(kInterrupted);
    return is_checked && !reaches_unsound(source) && is_sound(source) && run_statements(source);
  };
  if (!with_source(std::move(name), std::move(text), std::move(folder), true, accept)) return false;
  return tell_changes(sources_.back());
}

bool Workspace::reload() {
  const std::vector<std::string> outdated = session_.outdated_files();
  session_.reread_files();
  outdated_.clear();
  for (const std::string& file : outdated) print_line(fmt::format("`{}` is read again", file));
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
      print_problems(unsound(declarations().at(declared)).errors);
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
      complain(fmt::format("`{}` has changed on the disk; `:reload` reads it again", file));
  outdated_ = std::move(outdated);
}

bool Workspace::is_sound(SourceId source) {
  std::vector<LocatedDiagnostic> problems = session_.check(source);
  for (DeclarationId id : session_.declarations(source))
    if (Unsound found = unsound(id); found.waits)
      std::erase_if(problems, [&](const LocatedDiagnostic& problem) {
        return std::ranges::any_of(found.errors, [&](const auto& d) { return is_same(d, problem); });
      });
  if (is_interrupted()) return complain(kInterrupted);
  print_problems(problems);
  return !has_errors(problems);
}

bool Workspace::reaches_unsound(SourceId source) {
  for (DeclarationId id : session_.declarations(source)) {
    const PieceKind kind = session_.info(id).kind;
    if (kind != PieceKind::Statement && (kind != PieceKind::Test || unsound(id).waits)) continue;
    for (DeclarationId reached : session_.reached_definitions(id)) {
      // A mistake in this very input is reported where it stands.
      if (session_.info(reached).source == source) continue;
      if (Unsound found = unsound(reached); !found.errors.empty())
        return !complain(fmt::format("{} {}: {}", shown_name(reached), found.waits ? "waits" : "has errors",
                                     found.errors[0].message));
    }
  }
  return false;
}

bool Workspace::run_statements(SourceId source) {
  for (DeclarationId statement : session_.statements(source))
    if (!run_statement(statement)) return false;
  return true;
}

bool Workspace::run_statement(DeclarationId statement) {
  StatementResult result = execution_->run(statement);
  std::fflush(stdout);
  if (result.failure) {
    print_problems({*result.failure});
    return false;
  }
  if (is_interrupted()) return complain(kInterrupted);
  bool binds = !session_.info(statement).name.empty();
  if (!binds && !result.type->is_unit()) print_line(to_string(*result.value));
  return true;
}

bool Workspace::run_test(DeclarationId test) {
  StatementResult result = execution_->run(test);
  print_line(fmt::format("{} {}", result.failure ? "FAILED" : "ok    ", session_.info(test).name));
  if (result.failure) print_problems({*result.failure});
  return !result.failure;
}

std::map<Workspace::Declared, DeclarationId> Workspace::declarations() {
  std::map<Declared, DeclarationId> found;
  for (SourceId source : sources_) {
    for (DeclarationId id : session_.declarations(source)) {
      const DeclarationInfo& about = session_.info(id);
      if (about.kind == PieceKind::Statement) continue;
      bool is_operator = about.kind == PieceKind::Def && !about.name.starts_with("@");
      found[{is_operator ? PieceKind::Op : about.kind, about.name}] = id;
    }
  }
  return found;
}

// A test needs what it reaches to run, where others need it to be called.
Workspace::Unsound Workspace::unsound(DeclarationId declaration) {
  Unsound found{declaration, session_.check_declaration(declaration), false};
  std::erase_if(found.errors, [](const auto& d) { return severity_of(d.kind) != Severity::Error; });
  const PieceKind kind = session_.info(declaration).kind;
  if (kind == PieceKind::Test)
    for (DeclarationId reached : session_.reached_definitions(declaration))
      if (found.errors.empty()) found.errors = unsound(reached).errors;
  found.waits = !found.errors.empty() && kind != PieceKind::Statement && kind != PieceKind::Import &&
                std::ranges::all_of(found.errors, may_come);
  return found;
}

bool Workspace::tell_changes(SourceId source) {
  std::vector<DeclarationId> tests;
  std::map<Declared, bool> now;
  for (auto& [id, declared] : in_order(declarations())) {
    const Unsound found = unsound(id);
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
    complain(fmt::format("{} has errors now:", shown_name(found.declaration)));
    print_problems(found.errors);
  } else if (options_.interactive) {
    std::set<std::string> reported;
    for (const LocatedDiagnostic& d : found.errors)
      if (reported.insert(d.message).second)
        complain(fmt::format("{} waits: {}", shown_name(found.declaration), d.message));
  }
}

void Workspace::announce(DeclarationId declaration, bool waited) {
  if (!options_.interactive) return;
  const DeclarationInfo& about = session_.info(declaration);
  if (about.kind == PieceKind::Def && about.name.starts_with("@"))
    print_line(type_of(about.name.substr(1), about.name + ": "));
  else if (waited && about.kind != PieceKind::Test)
    print_line(fmt::format("{} is defined now", shown_name(declaration)));
}

std::string Workspace::type_of(std::string_view global, const std::string& heading) {
  if (const Scheme* scheme = session_.scheme(module_, global)) return heading + to_string(*scheme);
  return session_.signature(session_.find_definition(module_, global));
}

std::string Workspace::shown_name(DeclarationId declaration) const {
  const DeclarationInfo& about = session_.info(declaration);
  return about.kind == PieceKind::Test ? fmt::format("test \"{}\"", about.name)
                                       : fmt::format("`{}`", about.name);
}

std::optional<DeclarationId> Workspace::only_expression(SourceId source, const std::string& what) {
  if (!is_sound(source)) return std::nullopt;
  std::vector<DeclarationId> statements = session_.statements(source);
  if (statements.size() == 1 && session_.trees(source).size() == 1 &&
      session_.info(statements[0]).name.empty())
    return statements[0];
  complain(fmt::format("{} takes one expression", what));
  return std::nullopt;
}

bool Workspace::show_type(const std::string& expression) {
  std::string_view asked = trimmed(expression);
  if (std::string_view name = global_name(asked); !name.empty()) {
    if (session_.find_definition(module_, name)) {
      print_line(type_of(name, ""));
      return true;
    }
  }
  // A general function has a type, though no single one as a value.
  if (asked.starts_with('%') && is_name(asked.substr(1)))
    if (const TopLevelVariable* variable = variable_of(asked.substr(1))) {
      print_line(to_string(variable->scheme));
      return true;
    }
  return with_source(next_name(), expression, "", false, [&](SourceId source) {
    // An operator has its signature for a type.
    auto hover = is_name(asked) ? ide::hover(session_, source, 0) : std::nullopt;
    if (hover && hover->range.end - hover->range.begin == asked.size()) {
      print_line(ide::code_of(*hover));
      return true;
    }
    auto statement = only_expression(source, "`:type`");
    if (!statement) return false;
    print_line(to_string(session_.inferred_statement(*statement).definition.scheme));
    return true;
  });
}

bool Workspace::show_stage(const std::string& request) {
  std::string_view rest = trimmed(request);
  const size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
  const std::string first(rest.substr(0, end));
  const bool has_stage = end < rest.size() && is_stage(first);
  const std::string stage = has_stage ? first : std::string(kDefaultStage);
  if (has_stage) rest = trimmed(rest.substr(end));
  if (is_stage(rest)) return complain(fmt::format("write `:ir {} EXPR`", rest));
  auto show = [&](const Definition& definition) {
    auto text = Compiler(session_, options_.execution.compiler).stage_text(definition, stage);
    if (!text) return complain(text.error().message);
    print_line(trimmed(*text));
    return true;
  };
  if (std::string_view name = global_name(rest); !name.empty() && stage != "ast")
    if (DeclarationId id = session_.find_definition(module_, name); id && unsound(id).errors.empty()) {
      if (const Definition* definition = session_.definition(module_, name)) return show(*definition);
      return complain(Compiler::no_code_of(name));
    }
  return with_source(next_name(), std::string(rest), "", false, [&](SourceId source) {
    // Two words side by side are no expression: the first is meant for a stage.
    if (!has_stage && end < rest.size() && is_name(first) && is_no_syntax(session_.check(source)))
      return complain(Compiler::unknown_stage(first));
    auto statement = only_expression(source, "`:ir`");
    if (!statement) return false;
    if (stage != "ast") return show(session_.inferred_statement(*statement).definition);
    print_line(trimmed(dump(session_.trees(source)[0].second.root)));
    return true;
  });
}

void Workspace::show_memory() {
  size_t all = 0;
  for (const MemoryUse& use : session_.memory_report()) {
    fmt::print("{:<20} {:>9} {:>12.1f} KiB\n", use.kind, use.count, static_cast<double>(use.bytes) / 1024);
    all += use.bytes;
  }
  fmt::print("{:<20} {:>9} {:>12.1f} KiB\n", "together", "", static_cast<double>(all) / 1024);
}

const TopLevelVariable* Workspace::variable_of(std::string_view name) {
  const TopLevelVariable* latest = nullptr;
  for (DeclarationId statement : session_.statements_of_module(module_))
    if (const TopLevelVariable* variable = session_.statement_variable(statement);
        variable && variable->variable->name == name)
      latest = variable;
  return latest;
}

bool Workspace::show_variables() {
  std::map<std::string, const TopLevelVariable*> latest;
  std::vector<std::string> order;
  for (DeclarationId statement : session_.statements_of_module(module_)) {
    const TopLevelVariable* variable = session_.statement_variable(statement);
    if (!variable) continue;
    std::string name(variable->variable->name);
    std::erase(order, name);
    order.push_back(name);
    latest[name] = variable;
  }
  for (const std::string& name : order)
    print_line(fmt::format("%{}: {}", name, to_string(latest[name]->scheme)));
  return true;
}

bool Workspace::explain(const std::string& code) {
  if (code.empty() && !last_shown_) return complain("there was no diagnostic so far; write `:explain Q0302`");
  auto kind = code.empty() ? last_shown_ : ide::kind_of_code(code);
  if (!kind) return complain(ide::unknown_code(code));
  fmt::print("{}", quern::explain(*kind, colours_wanted(stdout)));
  return true;
}

void Workspace::print_problems(const std::vector<LocatedDiagnostic>& problems) {
  constexpr size_t kShown = 20;
  if (!problems.empty()) last_shown_ = problems[std::min(problems.size(), kShown) - 1].kind;
  std::fflush(stdout);
  std::fputs(render_all(problems, options_.colour, kShown).c_str(), stderr);
}

void Workspace::report(const InternalFailure& bug) { print_problems({session_.locate(bug)}); }

bool Workspace::complain(const std::string& message) const {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", message);
  return false;
}

}  // namespace quern
