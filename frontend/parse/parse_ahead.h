#pragma once
// Parses the declarations of a text on a thread of its own, ahead of the thread that asks for them: parsing needs their
// texts alone, and takes a quarter of the time that the first check of a text does.

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "frontend/syntax/syntax.h"

namespace quern {

class ParseAhead {
 public:
  struct Part {
    uint32_t declaration;
    std::string_view text;  ///< stays as it is, and where it is, until the end of the ParseAhead
    bool is_chunk;
  };

  /// Begins with the first part. Where no thread is to be had, nothing is parsed ahead.
  ParseAhead(const std::vector<Part>& parts, bool slash_names);
  /// Waits for the end of the part that is being parsed.
  ~ParseAhead();
  ParseAhead(const ParseAhead&) = delete;
  ParseAhead& operator=(const ParseAhead&) = delete;

  /// The outcome of a declaration, once; nothing where the caller has to parse it.
  std::optional<ParseOutcome> take(uint32_t declaration);

 private:
  enum State : uint8_t { kWaiting, kInWork, kReady, kGiven };
  struct Job {
    explicit Job(const Part& part) : part(part) {}
    const Part part;
    std::atomic<State> state = kWaiting;
    std::optional<ParseOutcome> outcome = {};
  };
  void parse_all();
  std::optional<ParseOutcome> parse(const Part& part) const;

  const bool slash_names_;
  std::deque<Job> jobs_;
  std::unordered_map<uint32_t, Job*> job_of_;  ///< by declaration
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace quern
