#include "session/texts/read_ahead.h"

#include <exception>
#include <system_error>
#include <utility>

#include "ir/base/interrupt.h"
#include "ir/base/series.h"
#include "session/texts/lone_scope.h"

namespace quern {

namespace {

/// The annotations of a definition whose text alone decides them. Those with variables are left to the query, whose
/// repetitions share them.
std::optional<Annotations> annotations_alone(const ReadAhead::Part& part, const ParsedTree& tree) {
  const SyntaxPtr head = fitting(tree.head, part.kind);
  if (!head->is(SyntaxKind::Def)) return std::nullopt;
  LoneScope scope;
  Series made;
  Series::Turn turn(made);
  std::optional<Annotations> found = annotations_of({part.declaration, {}, head, tree.arena}, scope);
  if (scope.was_asked() || !made.empty()) return std::nullopt;
  return found;
}

}  // namespace

ReadAhead::ReadAhead(const std::vector<Part>& parts, bool slash_names) : slash_names_(slash_names) {
  job_of_.reserve(parts.size());
  for (const Part& part : parts) job_of_.emplace(part.declaration, &jobs_.emplace_back(part));
  try {
    thread_ = std::thread([this] { read_all(); });
  } catch (const std::system_error&) {
  }
}

ReadAhead::~ReadAhead() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

std::optional<ParseOutcome> ReadAhead::take_outcome(uint32_t declaration) {
  const auto found = job_of_.find(declaration);
  if (found == job_of_.end()) return std::nullopt;
  Job& job = *found->second;
  State expected = kWaiting;
  if (job.state.compare_exchange_strong(expected, kGiven) || expected == kGiven) return std::nullopt;
  job.state.wait(kInWork);
  job.state = kGiven;
  return job.read ? std::optional(std::move(job.read->outcome)) : std::nullopt;
}

ReadAhead::Job* ReadAhead::given(uint32_t declaration) const {
  const auto found = job_of_.find(declaration);
  return found != job_of_.end() && found->second->state == kGiven && found->second->read ? found->second
                                                                                         : nullptr;
}

std::optional<Annotations> ReadAhead::take_annotations(uint32_t declaration) {
  Job* const job = given(declaration);
  return job ? std::exchange(job->read->annotations, std::nullopt) : std::nullopt;
}

std::optional<TextDiagnostics> ReadAhead::take_diagnostics(uint32_t declaration) {
  Job* const job = given(declaration);
  if (!job) return std::nullopt;
  const std::unique_ptr<Read> read = std::move(job->read);
  return std::move(read->diagnostics);
}

void ReadAhead::read_all() {
  for (Job& job : jobs_) {
    if (stop_) return;
    State expected = kWaiting;
    if (!job.state.compare_exchange_strong(expected, kInWork)) continue;
    job.read = read(job.part);
    job.state = kReady;
    job.state.notify_one();
  }
}

// Null where that fails or is interrupted: it is left to the thread that asks, which knows where to report it.
std::unique_ptr<ReadAhead::Read> ReadAhead::read(const Part& part) const {
  try {
    auto read = std::make_unique<Read>();
    read->outcome = (part.kind ? parse_declaration : parse_chunk)(part.text, slash_names_);
    read->diagnostics =
        diagnostics_of_text(fitting(read->outcome.tree.root, part.kind), part.kind, part.declaration);
    read->annotations = annotations_alone(part, read->outcome.tree);
    if (!is_interrupted()) return read;
  } catch (const std::exception&) {
  }
  return nullptr;
}

}  // namespace quern
