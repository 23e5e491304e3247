#pragma once
// What waits for the server's thread: messages that have arrived, which a thread of its own reads, so that work
// that is going on can be given up when one comes; and functions that other threads post.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>

#include "lsp/transport.h"

namespace quern::lsp {

class Inbox {
 public:
  using Task = std::function<void()>;

  /// Reads until the input ends, or until the inbox goes. `cancelled` is posted for each request that the client
  /// cancels, with its id as JSON.
  Inbox(Transport& transport, std::function<void(const std::string& id)> cancelled);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// The next message or task; waits for it. Nothing at the end of the input.
  std::optional<std::variant<std::string, Task>> next();
  /// From any thread.
  void post(Task task);
  /// True while a message waits: a flag that work may poll.
  const std::atomic<bool>& waiting() const { return waiting_; }
  /// True from when a message comes that cancels a request or changes a text, up to `next`.
  const std::atomic<bool>& overtaken() const { return overtaken_; }
  /// Whether a `$/cancelRequest` has come for the request whose id reads so, as JSON. It never comes as a
  /// message.
  bool is_cancelled(const std::string& id);

 private:
  void read_all();
  bool take_cancellation(const std::string& message);

  Transport& transport_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> messages_;
  std::deque<Task> tasks_;
  std::function<void(const std::string&)> when_cancelled_;
  std::set<std::string> cancelled_;  ///< ids of requests that are not answered yet, or were before it came
  std::atomic<bool> waiting_ = false, overtaken_ = false;
  bool ended_ = false;
  std::thread reader_;
};

}  // namespace quern::lsp
