#include "tests/random/check.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

#include "frontend/text/render.h"
#include "ir/expr/equality.h"
#include "jit/runtime/threads.h"
#include "session/run/execution.h"
#include "tests/random/index_terms.h"

namespace quern::random_programs {

namespace {

constexpr int kProgramsPerSession = 200;

std::string scheme_text(const DefTerm& def) {
  std::vector<TypePtr> params;
  for (auto& [name, type] : def.params) params.push_back(type);
  std::string variables;
  for (size_t i = 0; i < params.size(); ++i)
    for (size_t axis = 0; axis < params[i]->dims.size(); ++axis) {
      if (!is_unwritten(params[i]->dims[axis].variable)) continue;
      // A `?` of a parameter is a dim named after its place.
      TypeTerm opened = *params[i];
      opened.dims[axis].variable = fmt::format("{}.{}", def.params[i].first, axis);
      variables += (variables.empty() ? "" : ", ") + opened.dims[axis].variable;
      params[i] = std::make_shared<const TypeTerm>(opened);
    }
  std::vector<std::string> names;
  auto add = [&](const std::string& name) {
    if (!name.empty() && !is_unwritten(name)) names.push_back(name);
  };
  for (const std::string& name : def.dim_variables) add(name);
  add(variables);
  for (const TypePtr& type : def.type_variables) add(type->name);
  std::string type = to_string(*function(params, def.result));
  return names.empty() ? type : type.insert(3, fmt::format("[{}]", fmt::join(names, ", ")));
}

/// Whether the definition's type has names that inference chooses.
bool is_inferred(const DefTerm& def) {
  return std::ranges::any_of(def.type_variables, [](const TypePtr& v) { return is_unwritten(v->name); });
}

bool has_function(const TypePtr& type) {
  return type->kind == TypeTerm::Kind::Function || std::ranges::any_of(type->args, has_function);
}

/// Whether a function is typed anew for each use: it has no typed form that could be printed.
bool has_specialised(const TermPtr& term) {
  bool numbers = term->type->kind == TypeTerm::Kind::Function &&
                 std::ranges::any_of(term->type->args, [](const TypePtr& t) { return t->dtype == kNumeric; });
  return numbers || std::ranges::any_of(term->children, has_specialised);
}
bool has_specialised(const ProgramTerm& program) {
  return std::ranges::any_of(program.defs, [](const DefTerm& d) { return has_specialised(d.body); }) ||
         std::ranges::any_of(program.statements,
                             [](const StatementTerm& s) { return has_specialised(s.value); });
}

/// The errors of a source, after the code of the first and a colon; a warning rejects nothing.
std::string rejection(Session& session, SourceId source) {
  std::string found;
  for (const LocatedDiagnostic& d : session.check(source)) {
    if (severity_of(d.kind) != Severity::Error) continue;
    if (found.empty()) found = fmt::format("{}: ", code_of(d.kind));
    found += render_terminal(d, false);
  }
  return found;
}

std::vector<ModulePart> parts(Session& session, ModuleId module, SourceId source) {
  std::vector<ModulePart> list;
  for (const std::string& name : session.definitions(module))
    list.push_back({session.definition(module, name)});
  for (DeclarationId statement : session.statements(source)) {
    const Inferred& inferred = session.inferred_statement(statement);
    list.push_back({&inferred.definition, inferred.variable});
  }
  return list;
}

/// What a failure shows. The code for all rows of a `vmap` has no call for each of them, so that where there is one
/// the calls are left out.
std::string failure_text(const LocatedDiagnostic& failure, const std::string& program) {
  std::string text = "failure: " + render_terminal(failure, false);
  const size_t calls = text.find("note: called from here");
  return program.find("vmap(") == std::string::npos ? text : text.substr(0, calls);
}

/// What each statement gives, up to the first that fails.
std::vector<std::string> results(Session& session, ModuleId module, SourceId source,
                                 const ExecutionOptions& options) {
  std::vector<std::string> all;
  Execution execution(session, module, options, [](std::string_view) {});
  for (DeclarationId statement : session.statements(source)) {
    StatementResult result = execution.run(statement);
    all.push_back(result.failure ? failure_text(*result.failure, session.text(source))
                                 : to_json(*result.value));
    if (result.failure) break;
  }
  return all;
}

/// Where two evaluations differ, or nothing.
std::string difference_of(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (i >= found.size() || found[i] != expected[i])
      return fmt::format("statement {}: compiled {}\ninterpreted {}", i,
                         i < found.size() ? found[i] : "nothing", expected[i]);
  return "";
}

}  // namespace

Workshop::Workshop(bool every_way)
    : every_way_(every_way),
      cache_(std::filesystem::temp_directory_path() /
             fmt::format("quern_random_{}_{}", ::getpid(), fmt::ptr(this))) {}
Workshop::~Workshop() {
  std::error_code ignored;
  std::filesystem::remove_all(cache_, ignored);
}

Session& Workshop::session() {
  if (!session_ || ++uses_ % kProgramsPerSession == 0) session_ = std::make_unique<Session>();
  return *session_;
}

std::string Workshop::diagnostics(const std::string& text, std::vector<TextRange>* ranges) {
  Session& s = session();
  SourceId source = s.add_source(s.make_module(), "random.relay", text);
  std::string all;
  for (const LocatedDiagnostic& d : s.check(source)) {
    if (severity_of(d.kind) != Severity::Error) continue;
    all += render_terminal(d, false);
    if (ranges) ranges->push_back({d.range.begin, d.range.end});
  }
  return all;
}

std::string Workshop::problem(const ProgramTerm& program, uint64_t omit, bool print, uint64_t turn) {
  Session& s = session();
  for (uint64_t left_out : {uint64_t{0}, omit}) {
    std::string text = write(program, {left_out}).text;
    ModuleId module = s.make_module();
    SourceId source = s.add_source(module, "random.relay", text);
    std::string found = rejection(s, source);
    if (!found.empty())
      return fmt::format("rejected{} {}\n{}", left_out ? " without annotations" : "", found, text);
    found = types(s, module, source, program, left_out != 0);
    if (!found.empty())
      return fmt::format("type{}: {}\n{}", left_out ? " without annotations" : "", found, text);
    if ((left_out == 0) != (omit % 2 == 0)) continue;
    found = values(s, module, source, program, turn);
    if (!found.empty()) return fmt::format("value: {}\n{}", found, text);
    if (print && !has_specialised(program)) found = round_trip(s, module, source);
    if (!found.empty()) return fmt::format("print: {}\n{}", found, text);
  }
  return "";
}

std::string Workshop::checked_problem(const ProgramTerm& program) {
  const std::vector<Way>& ways = compiled_ways();
  const auto checking = std::ranges::find_if(ways, &Way::checks_bounds);
  constexpr uint64_t kEvaluatedWithAnnotations = 2;
  return problem(program, kEvaluatedWithAnnotations, false, static_cast<uint64_t>(checking - ways.begin()));
}

std::string Workshop::types(Session& s, ModuleId module, SourceId source, const ProgramTerm& program,
                            bool left_out) {
  for (const DefTerm& def : program.defs) {
    // Inference may know more of a result than what was left out says, and of a parameter that is not used it
    // knows nothing.
    if (is_inferred(def) || (left_out && (has_unwritten(def.result) || has_function(def.result)))) continue;
    const Definition* found = s.definition(module, def.name);
    std::string got = found ? quern::to_string(found->scheme) : "nothing", meant = scheme_text(def);
    if (got != meant) return fmt::format("@{} has {} and was meant to have {}", def.name, got, meant);
  }
  std::vector<DeclarationId> statements = s.statements(source);
  for (size_t i = 0; i < program.statements.size(); ++i) {
    if (program.statements[i].general) continue;
    const StatementVariables bound =
        i < statements.size() ? s.statement_variables(statements[i]) : StatementVariables();
    std::string got = bound.empty() ? "nothing" : quern::to_string(bound[0]->variable->type);
    std::string meant = to_string(*program.statements[i].value->type);
    if (got != meant)
      return fmt::format("%{} has {} and was meant to have {}", program.statements[i].variable, got, meant);
  }
  return "";
}

std::string Workshop::values(Session& s, ModuleId module, SourceId source, const ProgramTerm& program,
                             uint64_t turn) {
  ExecutionOptions options;
  options.interpret = true;
  const std::vector<std::string> expected = results(s, module, source, options);
  if (!expected.empty() && expected.back().starts_with("failure") && !program.may_fail)
    return "the interpreter: " + expected.back();
  const std::vector<Way>& ways = compiled_ways();
  for (size_t i = 0; i < ways.size(); ++i) {
    if (!every_way_ && i != turn % ways.size()) continue;
    for (int time = 0; time < (ways[i].on_disk ? 2 : 1); ++time) {
      const auto found = results(s, module, source, execution_in(ways[i], cache_ / "kernels.db"));
      if (std::string text = difference_of(found, expected); !text.empty())
        return fmt::format("{}: {}", ways[i].name, text);
    }
  }
  return "";
}

std::string Workshop::round_trip(Session& s, ModuleId module, SourceId source) {
  std::string printed = s.typed_text(source).text;
  ModuleId other = s.make_module();
  SourceId again = s.add_source(other, "printed.relay", printed);
  if (std::string found = rejection(s, again); !found.empty())
    return fmt::format("rejected {}\nof the printed\n{}", found, printed);
  if (auto d = difference(parts(s, module, source), parts(s, other, again)))
    return fmt::format("{}\nin the printed\n{}", *d, printed);
  std::string twice = s.typed_text(again).text;
  return twice == printed ? "" : fmt::format("printed\n{}\nand after that\n{}", printed, twice);
}

}  // namespace quern::random_programs
