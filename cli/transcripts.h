#pragma once
// Transcripts (ide/transcript.h), done.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ide/transcript.h"
#include "repl/repl.h"

namespace quern {

/// Does the steps of transcripts: inputs as the prompt takes them, commands in a process of their own.
class TranscriptRunner {
 public:
  /// By path, of files that stand in an editor: imports see them instead of those on the disk.
  using OpenTexts = std::map<std::string, std::string>;

  /// `stdlib`: a folder to take the library from, or "".
  TranscriptRunner(std::string stdlib, ExecutionOptions options, OpenTexts texts = {});
  ~TranscriptRunner();

  /// What each step shows, in order. The working folder is meanwhile that of each step.
  std::vector<std::vector<std::string>> outputs(const ide::Transcript& transcript);

 private:
  struct Running;
  std::string output_of_input(const ide::TranscriptStep& step);

  const std::string stdlib_;
  const ExecutionOptions options_;
  const OpenTexts texts_;
  std::unique_ptr<Running> running_;
};

}  // namespace quern
