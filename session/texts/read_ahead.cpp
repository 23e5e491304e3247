#include "session/texts/read_ahead.h"

#include <exception>
#include <system_error>
#include <utility>

#include "ir/base/interrupt.h"

namespace quern {

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
  return std::exchange(job.outcome, std::nullopt);
}

std::optional<TextDiagnostics> ReadAhead::take_diagnostics(uint32_t declaration) {
  const auto found = job_of_.find(declaration);
  const bool is_read = found != job_of_.end() && found->second->state == kGiven;
  return is_read ? std::exchange(found->second->diagnostics, std::nullopt) : std::nullopt;
}

void ReadAhead::read_all() {
  for (Job& job : jobs_) {
    if (stop_) return;
    State expected = kWaiting;
    if (!job.state.compare_exchange_strong(expected, kInWork)) continue;
    read(job);
    job.state = kReady;
    job.state.notify_one();
  }
}

// What fails or is interrupted is left to the thread that asks, which knows where to report it.
void ReadAhead::read(Job& job) const {
  const Part& part = job.part;
  try {
    ParseOutcome outcome = (part.kind ? parse_declaration : parse_chunk)(part.text, slash_names_);
    if (is_interrupted()) return;
    job.diagnostics = diagnostics_of_text(fitting(outcome.tree.root, part.kind), part.kind, part.declaration);
    job.outcome = std::move(outcome);
  } catch (const std::exception&) {
  }
}

}  // namespace quern
