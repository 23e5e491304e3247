#include "repl/repl_workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/infer.h"
#include "frontend/render.h"
#include "frontend/syntax.h"
#include "ir/type.h"
#include "ir/value.h"
#include "passes/pipeline.h"
#include "repl/command_files.h"
#include "repl/explain.h"
#include "repl/repl_interrupt.h"
#include "session/compiler.h"
#include "session/explain.h"
#include "session/profile_report.h"

namespace quern {

namespace {

constexpr std::string_view kDefaultStage = "typed";

bool is_stage(std::string_view word) {
  constexpr std::array<std::string_view, 8> kOthers{"ast",      kDefaultStage, "fused", "bytecode",
                                                    "schedule", "loops",       "llvm",  "asm"};
  auto passes = pipeline();
  return std::find(kOthers.begin(), kOthers.end(), word) != kOthers.end() ||
         std::any_of(passes.begin(), passes.end(), [&](const Pass& p) { return p.name == word; });
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

// The code of a hover text: what stands between its first fences.
std::string first_code_block(const std::string& markdown) {
  size_t begin = markdown.find('\n') + 1;
  size_t end = markdown.find("\n```", begin);
  return end == std::string::npos ? markdown : markdown.substr(begin, end - begin);
}

}  // namespace

Workspace::Workspace(Session& session, const ReplOptions& options) : session_(session), options_(options) {
  reset();
}
Workspace::~Workspace() = default;

void Workspace::reset() {
  ExecutionOptions execution;
  execution.interpret = options_.interpret;
  module_ = session_.make_module();
  execution_ = std::make_unique<Execution>(session_, module_, std::move(execution), print_line);
  execution_->set_profiling(is_profiling_);
  sources_.clear();
  broken_.clear();
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

bool Workspace::run(std::string name, std::string text, std::string folder) {
  sources_.push_back(session_.add_source(module_, std::move(name), std::move(text), std::move(folder)));
  SourceId source = sources_.back();
  std::map<Declared, std::string> now = broken();
  if (refuse_broken(source, now) || !is_sound(source) || !evaluate(source)) {
    session_.remove_last_source(module_);
    sources_.pop_back();
    return false;
  }
  announce(source);
  for (auto& [declared, message] : now)
    if (!broken_.contains(declared))
      complain(fmt::format("`{}` has errors now: {}", declared.second, message));
  broken_ = std::move(now);
  return true;
}

bool Workspace::is_sound(SourceId source) {
  std::vector<LocatedDiagnostic> problems = session_.check(source);
  print_problems(problems);
  return !has_errors(problems);
}

bool Workspace::refuse_broken(SourceId source, const std::map<Declared, std::string>& broken) {
  if (broken.empty()) return false;
  std::map<Declared, DeclarationId> counting = declarations();
  std::vector<SyntaxPtr> reached;
  for (auto& [id, tree] : session_.trees(source))
    if (session_.info(id).kind == PieceKind::Statement) reached.push_back(tree.root);
  std::set<std::string> seen;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const std::string& callee : referenced_globals(reached[i])) {
      Declared declared{PieceKind::Def, "@" + callee};
      auto declaration = counting.find(declared);
      if (declaration == counting.end() || !seen.insert(callee).second) continue;
      // A mistake in this very input is reported where it stands.
      auto problem = broken.find(declared);
      if (problem != broken.end() && session_.info(declaration->second).source != source) {
        complain(fmt::format("`@{}` has errors: {}", callee, problem->second));
        return true;
      }
      for (auto& [id, tree] : session_.trees(session_.info(declaration->second).source))
        if (id == declaration->second) reached.push_back(tree.root);
    }
  }
  return false;
}

bool Workspace::evaluate(SourceId source) {
  InterruptibleEvaluation interruptible;
  for (DeclarationId statement : session_.statements(source)) {
    StatementResult result = execution_->run(statement);
    std::fflush(stdout);
    if (result.failure) {
      print_problems({*result.failure});
      return false;
    }
    if (interruptible.interrupted()) return complain("interrupted");
    bool binds = !session_.info(statement).name.empty();
    if (!binds && !result.type->is_unit()) print_line(to_string(*result.value));
  }
  return true;
}

std::map<Workspace::Declared, DeclarationId> Workspace::declarations() {
  std::map<Declared, DeclarationId> found;
  for (SourceId source : sources_) {
    for (auto& [id, tree] : session_.trees(source)) {
      const DeclarationInfo& about = session_.info(id);
      if (about.kind == PieceKind::Statement) continue;
      bool is_operator = about.kind == PieceKind::Def && !about.name.starts_with("@");
      found[{is_operator ? PieceKind::Op : about.kind, about.name}] = id;
    }
  }
  return found;
}

std::map<Workspace::Declared, std::string> Workspace::broken() {
  std::map<Declared, DeclarationId> counting = declarations();
  std::map<Declared, std::string> found;
  std::map<SourceId, std::vector<LocatedDiagnostic>> problems;
  for (auto& [declared, id] : counting) {
    SourceId source = session_.info(id).source;
    auto [at, fresh] = problems.try_emplace(source);
    if (fresh) at->second = session_.check(source);
    for (auto& [tree_id, tree] : session_.trees(source)) {
      if (tree_id != id) continue;
      Range range = session_.range_of({{id, tree.root->id}, {}});
      for (const LocatedDiagnostic& d : at->second)
        if (severity_of(d.kind) == Severity::Error && d.text.data() == session_.text(source).data() &&
            d.range.begin >= range.begin && d.range.end <= range.end)
          found.try_emplace(declared, d.message);
    }
    // Diagnostics may stand elsewhere, in an operator of the library say.
    bool is_function = declared.first == PieceKind::Def;
    std::string_view global = is_function ? global_name(declared.second) : std::string_view();
    if (!global.empty() && !session_.definition(module_, global))
      found.try_emplace(declared, "it has errors");
  }
  return found;
}

void Workspace::announce(SourceId source) {
  if (!options_.interactive) return;
  for (auto& [id, tree] : session_.trees(source)) {
    const DeclarationInfo& about = session_.info(id);
    if (about.kind != PieceKind::Def || !about.name.starts_with("@")) continue;
    std::string_view global = global_name(about.name);
    if (const Definition* definition = session_.definition(module_, global))
      print_line(fmt::format("@{}: {}", global, to_string(definition->scheme)));
  }
}

template <class Ask>
bool Workspace::with_source(const std::string& text, Ask ask) {
  SourceId source = session_.add_source(module_, next_name(), text);
  bool fine = ask(source);
  session_.remove_last_source(module_);
  return fine;
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
    if (const Definition* definition = session_.definition(module_, name)) {
      print_line(to_string(definition->scheme));
      return true;
    }
  }
  return with_source(expression, [&](SourceId source) {
    // An operator has its signature for a type.
    auto hover = is_name(asked) ? session_.hover(source, 0) : std::nullopt;
    if (hover && hover->range.end - hover->range.begin == asked.size()) {
      print_line(first_code_block(hover->markdown));
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
  size_t end = rest.find_first_of(" \t\n");
  std::string stage(kDefaultStage);
  if (end != std::string_view::npos && is_stage(rest.substr(0, end))) {
    stage = rest.substr(0, end);
    rest = trimmed(rest.substr(end));
  }
  auto show = [&](const Definition& definition) {
    auto text = Compiler(session_).stage_text(definition, stage);
    if (!text) return complain(text.error().message);
    print_line(trimmed(*text));
    return true;
  };
  if (std::string_view name = global_name(rest); !name.empty() && stage != "ast")
    if (const Definition* definition = session_.definition(module_, name)) return show(*definition);
  return with_source(std::string(rest), [&](SourceId source) {
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
    print_line(fmt::format("%{}: {}", name, to_string(latest[name]->variable->type)));
  return true;
}

bool Workspace::explain(const std::string& code) {
  if (code.empty() && !last_shown_) return complain("there was no diagnostic so far; write `:explain Q0302`");
  auto kind = code.empty() ? last_shown_ : kind_of_code(code);
  if (!kind) return complain(unknown_code(code));
  fmt::print("{}", quern::explain(*kind, colours_wanted(stdout)));
  return true;
}

void Workspace::print_problems(const std::vector<LocatedDiagnostic>& problems) {
  constexpr size_t kShown = 20;
  if (!problems.empty()) last_shown_ = problems[std::min(problems.size(), kShown) - 1].kind;
  std::fflush(stdout);
  std::fputs(render_all(problems, options_.colour, kShown).c_str(), stderr);
}

bool Workspace::complain(const std::string& message) const {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", message);
  return false;
}

}  // namespace quern
