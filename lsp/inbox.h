#pragma once
// The queue of the server's thread: messages, which a separate thread reads so that an arriving one can interrupt work
// in progress, and functions that other threads post.

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

  /// Reads until the input ends, or until the inbox is destroyed. `cancelled` is posted for each request that the
  /// client cancels, with its id as JSON.
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
  /// True from the arrival of a message that cancels a request or changes a text until `next`.
  const std::atomic<bool>& overtaken() const { return overtaken_; }
  /// Whether a `$/cancelRequest` has arrived for the request with this id, as JSON. `next` never returns it as a
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
