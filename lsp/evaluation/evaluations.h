#pragma once
// The evaluations that the server delegates to other processes, and their results, which move with edits of the texts.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/evaluation.h"
#include "lsp/evaluation/messages.h"
#include "lsp/evaluation/worker.h"

namespace quern::lsp {

struct ServerState;

struct EvaluationLimits {
  std::chrono::milliseconds time{10'000};
  size_t memory = size_t{8} << 30;  ///< bytes of address space
};

/// The result of a part of a text.
struct KeptResult {
  ide::EvaluatedPart part;  ///< its ranges are in the current text
  size_t text = 0;          ///< hash of the text that was evaluated
  bool is_stale = false;    ///< whether the text has changed since
};

class Evaluations {
  static constexpr std::chrono::seconds kFirstPause{1};

 public:
  /// Schedules a function on the server's thread.
  using Post = std::function<void(std::function<void()>)>;

  explicit Evaluations(ServerState& state);
  ~Evaluations();
  Evaluations(const Evaluations&) = delete;
  Evaluations& operator=(const Evaluations&) = delete;

  /// Sets the command that evaluates. Without it nothing is evaluated.
  void enable(std::vector<std::string> command, Post post);
  bool is_enabled() const { return !command_.empty(); }
  void set_limits(const EvaluationLimits& limits);
  const EvaluationLimits& limits() const { return limits_; }

  /// Starts a process for a request, within the limits. The events are called on the server's thread.
  std::unique_ptr<Worker> process(decltype(EvaluationOrder::asked) asked, Worker::Events events) const;
  /// Starts an evaluation; the request is answered when it ends. `id` is the request's and `token` that of its
  /// progress, both as JSON; the token may be empty.
  void start(const std::string& id, const std::string& token, ide::EvaluationRequest request);
  /// Stops the evaluation of a request, which is answered as cancelled.
  void stop(const std::string& id);
  /// Stops all evaluations.
  void stop_all();

  /// The peak rates of the machine; 0 until a process has measured them, which the first call starts. After a failure
  /// a later call starts another one.
  const Peaks& peaks();

  /// Keeps the results of a text that a file had, and asks the client to refresh what shows them.
  void keep(const std::string& path, const std::string& text, const ide::Evaluation& outcome);
  /// The results of a file, in the order of its text.
  const std::vector<KeptResult>& results(std::string_view path, const std::string& text);

  /// Keeps what the inputs of a prompt bind, by name. A part without a value was taken back.
  void keep_typed(uint64_t prompt, const ide::Evaluation& outcome);
  /// The prompt is gone.
  void forget_typed(uint64_t prompt) { typed_.erase(prompt); }
  /// What a prompt has bound to a name; null for none. Of several prompts the last that attached counts.
  const ide::ValueSummary* typed(std::string_view name) const;

 private:
  struct Job;
  struct OfFile {
    std::string text;  ///< that the ranges refer to
    std::vector<KeptResult> results;
  };

  void run(std::unique_ptr<Job> job);
  void take_line(const std::string& id, const std::string& line);
  void finish(const std::string& id, Worker::Ending ending, const std::string& why);
  void answer(const Job& job, Worker::Ending ending, const std::string& why);

  ServerState& state_;
  std::vector<std::string> command_;
  Post post_;
  EvaluationLimits limits_;
  std::optional<Peaks> peaks_;
  std::chrono::steady_clock::time_point next_measurement_{};  ///< not before
  std::chrono::seconds measurement_pause_ = kFirstPause;      ///< after the next failure
  std::map<std::string, std::unique_ptr<Job>> jobs_;          ///< by the ids of their requests
  std::map<std::string, OfFile, std::less<>> files_;          ///< by path
  std::map<uint64_t, std::map<std::string, ide::ValueSummary, std::less<>>> typed_;  ///< by prompt and name
};

}  // namespace quern::lsp
