#pragma once
// A language server on its own thread, for a client that sends and receives whole messages.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lsp/transport.h"
#include "session/session.h"

namespace quern::serve {

/// A transport between two threads: one delivers and sends messages, the other one reads and writes them.
class MessageQueue final : public lsp::Transport {
 public:
  /// `send` is called with each message, on the writing thread.
  explicit MessageQueue(std::function<void(std::string)> send) : send_(std::move(send)) {}

  /// A message of the client.
  void receive(std::string message);
  /// A message of that size, passed to `send`, has reached the client.
  void sent(size_t bytes);

  std::optional<std::string> read() override;
  void interrupt() override;
  /// Blocks while the client does not receive.
  void write(std::string_view text) override;

 private:
  std::function<void(std::string)> send_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> received_;
  size_t unsent_ = 0;  ///< bytes passed to `send` that have not reached the client yet
  bool ended_ = false;
};

class LanguageThread {
 public:
  /// `send` is called on the server's thread, and `ended` at its end.
  /// `evaluator`: as of lsp::run_language_server.
  LanguageThread(std::function<std::unique_ptr<Session>()> make_session, std::vector<std::string> evaluator,
                 std::function<void(std::string)> send, std::function<void()> ended);
  /// Waits until the server has ended.
  ~LanguageThread();
  LanguageThread(const LanguageThread&) = delete;
  LanguageThread& operator=(const LanguageThread&) = delete;

  MessageQueue& messages() { return messages_; }

 private:
  MessageQueue messages_;
  std::thread thread_;
};

}  // namespace quern::serve
