#pragma once
// Running transcripts (ide/transcript.h).

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ide/transcript.h"
#include "repl/repl.h"

namespace quern {

/// Runs the steps of transcripts: inputs as at the prompt, commands in child processes.
class TranscriptRunner {
 public:
  /// By path, of files that stand in an editor: imports see them instead of those on the disk.
  using OpenTexts = std::map<std::string, std::string>;

  /// `stdlib`: a folder to take the library from, or "".
  TranscriptRunner(std::string stdlib, ExecutionOptions options, OpenTexts texts = {});
  ~TranscriptRunner();

  /// The outputs of all steps, in order. Each step runs in its own folder as the working directory.
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
