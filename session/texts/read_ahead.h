#pragma once
// Reads the declarations of a text on a thread of its own, ahead of the thread that asks for them: what they say by
// themselves needs their texts alone, and takes two fifths of the time that the first check of a text does.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "frontend/static/scope.h"
#include "session/texts/text_diagnostics.h"

namespace quern {

class ReadAhead {
 public:
  struct Part {
    uint32_t declaration;
    std::string_view text;  ///< stays as it is, and where it is, until the end of the ReadAhead
    TextKind kind;
  };

  /// Begins with the first part. Where no thread is to be had, nothing is read ahead.
  ReadAhead(const std::vector<Part>& parts, bool slash_names);
  /// Waits for the end of the part that is being read.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The outcome of parsing a declaration, once; nothing where the caller has to parse it.
  std::optional<ParseOutcome> take_outcome(uint32_t declaration);
  /// What a definition whose outcome was taken says of its type without its body, once; nothing where other declarations
  /// have a say, or where the caller has to look at it.
  std::optional<Annotations> take_annotations(uint32_t declaration);
  /// The diagnostics of the text of such a declaration, once; nothing where the caller has to find them. They are the last
  /// that is asked for: with it goes what else was read.
  std::optional<TextDiagnostics> take_diagnostics(uint32_t declaration);

 private:
  enum State : uint8_t { kWaiting, kInWork, kReady, kGiven };
  struct Read {
    ParseOutcome outcome;
    TextDiagnostics diagnostics;
    std::optional<Annotations> annotations;
  };
  struct Job {
    explicit Job(const Part& part) : part(part) {}
    const Part part;
    std::atomic<State> state = kWaiting;
    std::unique_ptr<Read> read = {};
  };
  void read_all();
  std::unique_ptr<Read> read(const Part& part) const;
  /// The job of a declaration whose outcome was taken, or null.
  Job* given(uint32_t declaration) const;

  const bool slash_names_;
  std::deque<Job> jobs_;
  std::unordered_map<uint32_t, Job*> job_of_;  ///< by declaration
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace quern
