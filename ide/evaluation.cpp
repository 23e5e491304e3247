#include "ide/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include "ir/base/units.h"
#include "session/run/compiler.h"
#include "session/run/entry_arguments.h"

namespace quern::ide {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A text with the statements to evaluate inserted at their position.
struct Arranged {
  std::string text;
  uint32_t begin = 0, end = 0;  ///< of these statements in it
  struct Copy {
    uint32_t begin;  ///< in this text
    Range from;      ///< in the file's
  };
  std::vector<Copy> copies{};  ///< what is inserted, in order
};

/// The text with the statements inserted before the one at the offset, which keeps every range before it valid. The
/// rest is not evaluated.
Arranged arranged(Session& session, SourceId source, const EvaluationRequest::Statements& what) {
  const std::string& text = session.text(source);
  auto place = static_cast<uint32_t>(text.size());
  bool is_ended = true;
  for (DeclarationId statement : session.statements(source)) {
    const Range range = session.range_of(statement);
    if (range.end > what.offset) {
      place = range.begin;
      break;
    }
    uint32_t end = range.end;
    while (end < text.size() && is_blank(text[end])) ++end;
    // The last statement of a file needs no `;`.
    is_ended = end < text.size() && text[end] == ';';
  }
  // A block behind a definition would be its body.
  const bool is_block = !what.before.empty() || text[what.range.begin] == '{';
  Arranged result{text.substr(0, place) + (is_ended && !is_block ? "\n" : "\n;\n")};
  const auto copy = [&](Range from) {
    result.copies.push_back({static_cast<uint32_t>(result.text.size()), from});
    result.text += std::string_view(text).substr(from.begin, from.end - from.begin);
  };
  result.begin = static_cast<uint32_t>(result.text.size());
  if (!what.before.empty()) result.text += "{\n";
  for (const Range& statement : what.before) {
    copy(statement);
    result.text += ";\n";
  }
  copy(what.range);
  if (!what.before.empty()) result.text += "\n}";
  result.end = static_cast<uint32_t>(result.text.size());
  result.text += result.text.ends_with(';') ? "\n" : ";\n";
  result.text += text.substr(place);
  return result;
}

EvaluationProblem problem_of(const LocatedDiagnostic& diagnostic) {
  EvaluationProblem problem{std::string(code_of(diagnostic.kind)), diagnostic.file, diagnostic.range,
                            diagnostic.message};
  for (const LocatedNote& note : diagnostic.notes) {
    problem.message += "\nnote: " + note.message;
    if (note.text.empty()) continue;
    const LineColumn at = LineIndex(note.text).locate(note.range.begin);
    problem.message += fmt::format(" ({}:{}:{})", note.file, at.line, at.column);
  }
  return problem;
}

class Evaluator {
 public:
  Evaluator(Session& session, SourceId source, const CompilerOptions& compiler,
            const std::function<void(std::string_view)>& print)
      : session_(session), source_(source), print_(print) {
    options_.compiler = compiler;
    options_.saves = false;
  }

  /// Evaluates the statements in order, up to the first failure or to the end of `only`.
  Evaluation statements(std::optional<Range> only) {
    Execution execution(session_, session_.module_of(source_), options_, print_);
    for (DeclarationId statement : session_.statements(source_)) {
      const Range range = session_.range_of(statement);
      if (!is_sound(statement)) return std::move(done_);
      const bool is_shown = !only || range.begin >= only->begin;
      StatementResult result = execution.run(statement);
      const bool failed = result.failure.has_value();
      if (is_shown || failed) add(statement, std::move(result));
      if (failed || (only && range.end >= only->end)) return std::move(done_);
    }
    if (!only) run_main(execution);
    return std::move(done_);
  }

  Evaluation tests(const std::string& name) {
    for (DeclarationId test : session_.tests(source_)) {
      const DeclarationInfo& info = session_.info(test);
      if (!name.empty() && info.name != name) continue;
      EvaluatedPart part{session_.range_of(test), info.name, true};
      auto errors = errors_of(test);
      if (errors.empty()) {
        Execution execution(session_, session_.module_of(source_), options_, print_);
        if (const auto result = execution.run(test); result.failure)
          part.failure = problem_of(*result.failure);
      } else {
        part.failure = std::move(errors.front());
      }
      done_.parts.push_back(std::move(part));
    }
    if (done_.parts.empty() && !name.empty()) return without(fmt::format("there is no test \"{}\"", name));
    return std::move(done_);
  }

  /// The name is with or without `@`.
  Evaluation timing(std::string_view asked) {
    const std::string function(asked.substr(asked.starts_with('@') ? 1 : 0));
    const ModuleId module = session_.module_of(source_);
    const DeclarationId declaration = session_.find_definition(module, function);
    if (declaration == 0) return without(fmt::format("there is no function `@{}`", function));
    if (!is_sound(declaration)) return std::move(done_);
    EvaluatedPart part{session_.range_of(declaration), function};
    const Definition* definition = session_.definition(module, function);
    const auto* head = definition ? as<FnExpr>(definition->body) : nullptr;
    if (head)
      time_calls(part, *head);
    else
      part.failure = EvaluationProblem{"", session_.path(source_), part.range,
                                       fmt::format("`@{}` has no type of its own to call it by", function)};
    done_.parts.push_back(std::move(part));
    return std::move(done_);
  }

 private:
  Evaluation without(std::string why) {
    done_.problems.push_back({"", session_.path(source_), {}, std::move(why)});
    return std::move(done_);
  }

  /// Times calls of a function with random arguments, in a separate source.
  void time_calls(EvaluatedPart& part, const FnExpr& function) {
    const auto fail = [&](std::string message) {
      part.failure = EvaluationProblem{"", session_.path(source_), part.range, std::move(message)};
    };
    const ModuleId module = session_.module_of(source_);
    EntryArguments arguments = entry_arguments(function.params, {{}, {}, "", 0},
                                               [&](Type type) { return session_.data(module, type); });
    arguments.missing.insert(arguments.missing.end(), arguments.problems.begin(), arguments.problems.end());
    if (!arguments.missing.empty())
      return fail(fmt::format("no random arguments can be made: {}", arguments.missing.front()));
    std::string text, call;
    for (size_t i = 0; i < function.params.size(); ++i) {
      text += fmt::format("free_var %argument_{}: {};\n", i, to_string(function.params[i]->type));
      call += fmt::format("{}%argument_{}", i == 0 ? "" : ", ", i);
    }
    const SourceId source =
        session_.add_source(module, "<timing>", fmt::format("{}@{}({});", text, part.name, call));
    const auto statements = session_.statements(source);
    Execution execution(session_, module, options_, print_);
    for (size_t i = 0; i + 1 < statements.size(); ++i) execution.give(statements[i], arguments.values[i]);
    if (!is_sound(statements.back())) return;
    take_times(part, execution, execution.prepare(statements.back(), Execution::Outside::Quiet));
  }

  void take_times(EvaluatedPart& part, Execution& execution, const Execution::Repeated& call) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds kAll{500};
    constexpr size_t kMost = 10'000;
    const auto start = Clock::now();
    const StatementResult first = call();
    const auto compiled = Clock::now();
    if (first.failure) {
      part.failure = problem_of(*first.failure);
      return;
    }
    execution.compiler().wait_until_idle();
    std::vector<std::chrono::nanoseconds> times;
    for (auto begin = Clock::now(), end = begin + kAll;
         times.empty() || (begin < end && times.size() < kMost);) {
      call();
      const auto now = Clock::now();
      times.push_back(now - begin);
      begin = now;
    }
    const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    part.value = summary_of(*first.value, first.type);
    part.note = fmt::format("{} a call (median of {}), the first {} with compiling", time_text(*middle),
                            times.size(), time_text(compiled - start));
  }

  void run_main(Execution& execution) {
    const DeclarationId main = session_.find_definition(session_.module_of(source_), "main");
    if (main == 0 || session_.info(main).source != source_ || !is_sound(main)) return;
    auto result = execution.run_entry("main", Execution::Lacking::IsNoEntry);
    if (result) add(main, std::move(*result));
  }

  void add(DeclarationId declaration, StatementResult result) {
    EvaluatedPart part{session_.range_of(declaration), ""};
    const DeclarationInfo& info = session_.info(declaration);
    if (info.kind == PieceKind::Statement && !names_pattern(info.name)) part.name = info.name;
    if (result.failure) part.failure = problem_of(*result.failure);
    if (!part.failure && !result.type->is_unit()) part.value = summary_of(*result.value, result.type);
    done_.parts.push_back(std::move(part));
  }

  /// The errors in a declaration and in what it needs.
  std::vector<EvaluationProblem> errors_of(DeclarationId declaration) {
    std::vector<EvaluationProblem> errors;
    for (const LocatedDiagnostic& found : session_.check_with_needed(declaration))
      if (severity_of(found.kind) == Severity::Error) errors.push_back(problem_of(found));
    return errors;
  }
  bool is_sound(DeclarationId declaration) {
    done_.problems = errors_of(declaration);
    return done_.problems.empty();
  }

  Session& session_;
  const SourceId source_;
  const std::function<void(std::string_view)>& print_;
  ExecutionOptions options_;
  Evaluation done_;
};

/// Other processes disturb a measurement, but hardly ever all: after a pause, a process may run for a while.
Peaks best_peaks() {
  constexpr int kTimes = 5;
  constexpr std::chrono::milliseconds kPause{100};
  Peaks best = measured_peaks();
  for (int i = 1; i < kTimes; ++i) {
    std::this_thread::sleep_for(kPause);
    const Peaks once = measured_peaks();
    best.gflops = std::max(best.gflops, once.gflops);
    best.bandwidth = std::max(best.bandwidth, once.bandwidth);
  }
  return best;
}

/// Maps a range of an arranged text to the file's text. What covers several copies is the last one's.
void move_back(Range& range, const Arranged& from) {
  if (range.begin < from.begin) return;
  const Arranged::Copy* copy = &from.copies.back();
  for (const Arranged::Copy& each : from.copies)
    if (each.begin <= range.begin && range.end <= each.begin + (each.from.end - each.from.begin))
      copy = &each;
  const auto moved = [&](uint32_t at) {
    const uint32_t inside = std::max(at, copy->begin) - copy->begin;
    return std::min(copy->from.begin + inside, copy->from.end);
  };
  range = {moved(range.begin), moved(range.end)};
}

}  // namespace

Evaluation evaluate(Session& session, const EvaluationRequest& request, const CompilerOptions& compiler,
                    const std::function<void(std::string_view)>& print) {
  if (std::holds_alternative<EvaluationRequest::Machine>(request.what)) return {{}, {}, best_peaks()};
  for (const auto& [path, text] : request.texts)
    if (path != request.path) session.open_file(path, text);
  const auto own = request.texts.find(request.path);
  const SourceId source = session.open_file(request.path, own == request.texts.end() ? "" : own->second);
  Evaluator evaluator(session, source, compiler, print);
  if (auto* tests = std::get_if<EvaluationRequest::Tests>(&request.what)) return evaluator.tests(tests->name);
  if (auto* timing = std::get_if<EvaluationRequest::Timing>(&request.what))
    return evaluator.timing(timing->function);
  const auto* statements = std::get_if<EvaluationRequest::Statements>(&request.what);
  if (!statements) return evaluator.statements(std::nullopt);
  const Arranged text = arranged(session, source, *statements);
  session.set_text(source, text.text);
  Evaluation done = evaluator.statements(Range{text.begin, text.end});
  for (EvaluatedPart& part : done.parts) {
    move_back(part.range, text);
    if (part.failure && part.failure->file == request.path) move_back(part.failure->range, text);
  }
  for (EvaluationProblem& problem : done.problems)
    if (problem.file == request.path) move_back(problem.range, text);
  return done;
}

}  // namespace quern::ide
