#include "frontend/parse/parse_ahead.h"

#include <exception>
#include <system_error>

#include "ir/base/interrupt.h"

namespace quern {

ParseAhead::ParseAhead(const std::vector<Part>& parts, bool slash_names) : slash_names_(slash_names) {
  job_of_.reserve(parts.size());
  for (const Part& part : parts) job_of_.emplace(part.declaration, &jobs_.emplace_back(part));
  try {
    thread_ = std::thread([this] { parse_all(); });
  } catch (const std::system_error&) {
  }
}

ParseAhead::~ParseAhead() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

std::optional<ParseOutcome> ParseAhead::take(uint32_t declaration) {
  const auto found = job_of_.find(declaration);
  if (found == job_of_.end()) return std::nullopt;
  Job& job = *found->second;
  State expected = kWaiting;
  if (job.state.compare_exchange_strong(expected, kGiven) || expected == kGiven) return std::nullopt;
  job.state.wait(kInWork);
  job.state = kGiven;
  return std::move(job.outcome);
}

void ParseAhead::parse_all() {
  for (Job& job : jobs_) {
    if (stop_) return;
    State expected = kWaiting;
    if (!job.state.compare_exchange_strong(expected, kInWork)) continue;
    job.outcome = parse(job.part);
    job.state = kReady;
    job.state.notify_one();
  }
}

// What fails or is interrupted is left to the thread that asks, which knows where to report it.
std::optional<ParseOutcome> ParseAhead::parse(const Part& part) const {
  try {
    ParseOutcome outcome = (part.is_chunk ? parse_chunk : parse_declaration)(part.text, slash_names_);
    if (!is_interrupted()) return outcome;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

}  // namespace quern
