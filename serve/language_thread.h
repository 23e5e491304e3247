#pragma once
// A language server on a thread of its own, for a client that sends and takes whole messages.

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

/// Messages that one thread puts in and takes out, and another reads and writes.
class MessageQueue final : public lsp::Transport {
 public:
  /// `send` takes each message that is written, on the writing thread.
  explicit MessageQueue(std::function<void(std::string)> send) : send_(std::move(send)) {}

  /// A message of the client.
  void receive(std::string message);
  /// A message of so many bytes, taken by `send`, is with the client.
  void sent(size_t bytes);

  std::optional<std::string> read() override;
  /// Also ends a `write` that waits.
  void interrupt() override;
  /// Waits while a client does not take what is sent to it.
  void write(std::string_view text) override;

 private:
  std::function<void(std::string)> send_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> received_;
  size_t unsent_ = 0;  ///< bytes that `send` took, and that are not with the client yet
  bool ended_ = false;
};

class LanguageThread {
 public:
  /// `send` is called on the server's thread, and `ended` as the last that it does.
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
