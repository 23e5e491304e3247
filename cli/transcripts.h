#pragma once
// Transcripts (repl/transcript.h), done.

#include <memory>
#include <string>
#include <vector>

#include "repl/repl.h"
#include "repl/transcript.h"

namespace quern {

/// Does the steps of transcripts: inputs as the prompt takes them, commands in a process of their own.
class TranscriptRunner {
 public:
  /// `stdlib`: a folder to take the library from, or "".
  TranscriptRunner(std::string stdlib, ExecutionOptions options);
  ~TranscriptRunner();

  /// What each step shows, in order. The working folder is meanwhile that of each step.
  std::vector<std::vector<std::string>> outputs(const Transcript& transcript);

 private:
  struct Running;
  std::string output_of_input(const TranscriptStep& step);

  const std::string stdlib_;
  const ExecutionOptions options_;
  std::unique_ptr<Running> running_;
};

}  // namespace quern
