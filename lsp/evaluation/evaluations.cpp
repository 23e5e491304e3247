#include "lsp/evaluation/evaluations.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "frontend/parse/scanner.h"
#include "lsp/positions.h"
#include "lsp/protocol.h"
#include "lsp/state.h"

namespace quern::lsp {

namespace {

using ide::EvaluatedPart;
using ide::Evaluation;
using ide::EvaluationProblem;
using ide::EvaluationRequest;
using nlohmann::json;

constexpr size_t kMostOutput = size_t{1} << 20;
/// The id of the job that measures the machine. No request has it: their ids are JSON.
constexpr const char* kMachine = "machine";

json to_json(const EvaluationProblem& problem, const std::string& path, const Positions& positions) {
  json value = {{"message", problem.message}};
  if (!problem.code.empty()) value["code"] = problem.code;
  if (problem.file == path)
    value["range"] = to_json<json>(positions.range(problem.range));
  else if (!problem.file.empty())
    value["file"] = problem.file;
  return value;
}

json to_json(const EvaluatedPart& part, const std::string& path, const Positions& positions) {
  json value = {{"range", to_json<json>(positions.range(part.range))}};
  if (!part.name.empty()) value["name"] = part.name;
  if (!part.note.empty()) value["note"] = part.note;
  if (part.is_test) value["passed"] = !part.failure;
  if (part.value) {
    value["type"] = part.value->type;
    value["text"] = part.value->text;
    value["markdown"] = ide::to_markdown(*part.value);
  }
  if (part.failure) value["failure"] = to_json(*part.failure, path, positions);
  return value;
}

/// The edit from `before` to `after`. If an insertion or a deletion could be at several places, as between lines with
/// equal beginnings, it is at the beginning of a line.
TextEdit edit_by_lines(std::string_view before, std::string_view after) {
  TextEdit edit = edit_between(before, after);
  const bool puts_in = edit.begin == edit.old_end, takes_out = edit.begin == edit.new_end;
  if (puts_in == takes_out) return edit;
  const std::string_view longer = puts_in ? after : before;
  uint32_t begin = edit.begin, end = puts_in ? edit.new_end : edit.old_end;
  while (begin > 0 && before[begin - 1] != '\n' && longer[begin - 1] == longer[end - 1]) {
    --begin;
    --end;
  }
  if (begin > 0 && before[begin - 1] != '\n') return edit;
  const uint32_t by = edit.begin - begin;
  return {begin, edit.old_end - by, edit.new_end - by};
}

/// Moves a range along with an edit; false if the edit touches it.
bool follow(Range& range, const TextEdit& edit) {
  if (range.end < edit.begin) return true;
  if (range.begin < edit.old_end) return false;
  const auto moved = [&](uint32_t at) { return at - edit.old_end + edit.new_end; };
  range = {moved(range.begin), moved(range.end)};
  return true;
}

/// The same for a result. If the edit touches the range of its failure, the range of the part replaces that.
bool follow(EvaluatedPart& part, std::string_view path, const TextEdit& edit) {
  if (!follow(part.range, edit)) return false;
  if (part.failure && part.failure->file == path && !follow(part.failure->range, edit))
    part.failure->range = part.range;
  if (part.rewrite && !follow(part.rewrite->range, edit)) part.rewrite.reset();
  return true;
}

bool is_same_part(const EvaluatedPart& a, const EvaluatedPart& b) {
  return a.range == b.range && a.is_test == b.is_test && a.note.empty() == b.note.empty();
}

}  // namespace

struct Evaluations::Job {
  std::string id, token;
  ide::EvaluationRequest request;
  std::string output;
  std::optional<Evaluation> outcome{};
  std::string problem{};  ///< in the output of the process
  std::unique_ptr<Worker> worker{};

  const std::string& text() const { return request.texts.at(request.path); }
};

Evaluations::Evaluations(ServerState& state) : state_(state) {}
Evaluations::~Evaluations() = default;

void Evaluations::enable(std::vector<std::string> command, Post post) {
  command_ = std::move(command);
  post_ = std::move(post);
}

std::unique_ptr<Worker> Evaluations::process(decltype(EvaluationOrder::asked) asked,
                                             Worker::Events events) const {
  Worker::Events posted;
  posted.line = [post = post_, take = std::move(events.line)](std::string line) {
    post([take, line = std::move(line)] { take(line); });
  };
  posted.end = [post = post_, take = std::move(events.end)](Worker::Ending ending, std::string why) {
    post([take, ending, why = std::move(why)] { take(ending, why); });
  };
  return std::make_unique<Worker>(command_, encode({std::move(asked), limits_.memory}), limits_.time,
                                  std::move(posted));
}

void Evaluations::start(const std::string& id, const std::string& token, ide::EvaluationRequest request) {
  if (!token.empty())
    send_notification<json>(state_.transport, "$/progress",
                            {{"token", json::parse(token)},
                             {"value", {{"kind", "begin"}, {"title", "Evaluating"}, {"cancellable", true}}}});
  run(std::make_unique<Job>(Job{id, token, std::move(request), ""}));
}

void Evaluations::set_limits(const EvaluationLimits& limits) {
  limits_ = limits;
  // What was too little for a measurement may be enough now.
  next_measurement_ = {};
  measurement_pause_ = kFirstPause;
}

const Peaks& Evaluations::peaks() {
  const bool is_due = !jobs_.contains(kMachine) && std::chrono::steady_clock::now() >= next_measurement_;
  if (!peaks_ && is_enabled() && is_due) {
    EvaluationRequest request;
    request.what = EvaluationRequest::Machine{};
    run(std::make_unique<Job>(Job{kMachine, "", std::move(request), ""}));
  }
  static const Peaks kUnknown;
  return peaks_ ? *peaks_ : kUnknown;
}

void Evaluations::run(std::unique_ptr<Job> job) {
  const std::string id = job->id, order = encode({job->request, limits_.memory});
  Worker::Events events;
  events.line = [this, id](const std::string& line) { take_line(id, line); };
  events.end = [this, id](Worker::Ending ending, const std::string& why) { finish(id, ending, why); };
  Job& kept = *(jobs_[id] = std::move(job));
  kept.worker = process(kept.request, std::move(events));
}

void Evaluations::stop(const std::string& id) {
  if (auto job = jobs_.find(id); job != jobs_.end()) job->second->worker->stop();
}

void Evaluations::stop_all() { jobs_.clear(); }

void Evaluations::take_line(const std::string& id, const std::string& line) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  Job& job = *found->second;
  auto said = decode_line(line);
  if (!said) {
    job.problem = said.error().message;
    return;
  }
  if (auto* printed = std::get_if<PrintedLine>(&*said)) {
    if (job.output.size() < kMostOutput) job.output += printed->text + "\n";
    if (!job.token.empty())
      send_notification<json>(
          state_.transport, "$/progress",
          {{"token", json::parse(job.token)}, {"value", {{"kind", "report"}, {"message", printed->text}}}});
  } else {
    job.outcome = std::move(std::get<Evaluation>(*said));
  }
}

void Evaluations::finish(const std::string& id, Worker::Ending ending, const std::string& why) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const std::unique_ptr<Job> job = std::move(found->second);
  jobs_.erase(found);
  if (id == kMachine) {
    if (job->outcome && job->outcome->peaks) {
      peaks_ = job->outcome->peaks;
    } else {
      // Each further failure makes it less likely that the next attempt succeeds.
      next_measurement_ = std::chrono::steady_clock::now() + measurement_pause_;
      measurement_pause_ *= 2;
    }
    return;
  }
  if (!job->token.empty())
    send_notification<json>(state_.transport, "$/progress",
                            {{"token", json::parse(job->token)}, {"value", {{"kind", "end"}}}});
  if (job->outcome) keep(job->request.path, job->text(), *job->outcome);
  answer(*job, ending, why);
}

void Evaluations::answer(const Job& job, Worker::Ending ending, const std::string& why) {
  const json id = json::parse(job.id);
  const auto fail = [&](ErrorCode code, const std::string& message) {
    send_error<json>(state_.transport, id, code, message);
  };
  if (ending == Worker::Ending::Stopped) return fail(kRequestCancelled, "the client cancelled it");
  if (ending == Worker::Ending::TimedOut)
    return fail(kRequestFailed, fmt::format("the evaluation took longer than {} s and was ended; the setting "
                                            "`evaluation.seconds` gives it more",
                                            std::chrono::duration<double>(limits_.time).count()));
  if (!job.outcome)
    return fail(kRequestFailed, fmt::format("the evaluation failed: {}", why.empty() ? job.problem : why));
  const Positions positions(job.text(), state_.encoding);
  json parts = json::array(), problems = json::array();
  for (const EvaluatedPart& part : job.outcome->parts)
    parts.push_back(to_json(part, job.request.path, positions));
  for (const EvaluationProblem& problem : job.outcome->problems)
    problems.push_back(to_json(problem, job.request.path, positions));
  send_result<json>(state_.transport, id, {{"parts", parts}, {"problems", problems}, {"output", job.output}});
}

/// Replaces earlier results of the same parts; the rest stays.
void Evaluations::keep(const std::string& path, const std::string& text, const Evaluation& outcome) {
  const size_t hash = std::hash<std::string>()(text);
  // The ranges of parts are in the evaluated text: known results are moved to it, and later all to the current text.
  results(path, text);
  OfFile& of = files_[path];
  of.text = text;
  for (const EvaluatedPart& part : outcome.parts) {
    if (part.range.end > text.size() || part.range.begin > part.range.end) continue;
    std::erase_if(of.results, [&](const KeptResult& known) { return is_same_part(known.part, part); });
    of.results.push_back({part, hash});
  }
  std::ranges::stable_sort(of.results, {}, [](const KeptResult& kept) { return kept.part.range.begin; });
  const auto refresh = [&](bool is_wanted, std::string_view what) {
    if (is_wanted)
      send_request<json>(state_.transport, fmt::format("refresh {}", what),
                         fmt::format("workspace/{}/refresh", what), nullptr);
  };
  refresh(state_.client.refreshes_hints, "inlayHint");
  refresh(state_.client.refreshes_lenses, "codeLens");
  refresh(state_.client.refreshes_diagnostics, "diagnostic");
  state_.documents.each_open([&](Document& document) {
    if (document.path == path) document.diagnostics_due = true;
  });
}

const std::vector<KeptResult>& Evaluations::results(std::string_view path, const std::string& text) {
  static const std::vector<KeptResult> kNone;
  const auto found = files_.find(path);
  if (found == files_.end()) return kNone;
  OfFile& of = found->second;
  if (of.text == text) return of.results;
  const TextEdit edit = edit_by_lines(of.text, text);
  std::erase_if(of.results, [&](KeptResult& kept) { return !follow(kept.part, path, edit); });
  of.text = text;
  const size_t hash = std::hash<std::string>()(text);
  for (KeptResult& kept : of.results) kept.is_stale = kept.text != hash;
  return of.results;
}

void Evaluations::keep_typed(uint64_t prompt, const ide::Evaluation& outcome) {
  auto& values = typed_[prompt];
  for (const ide::EvaluatedPart& part : outcome.parts) {
    if (part.value)
      values.insert_or_assign(part.name, *part.value);
    else
      values.erase(part.name);
  }
}

const ide::ValueSummary* Evaluations::typed(std::string_view name) const {
  for (auto prompt = typed_.rbegin(); prompt != typed_.rend(); ++prompt)
    if (const auto found = prompt->second.find(name); found != prompt->second.end()) return &found->second;
  return nullptr;
}

}  // namespace quern::lsp
