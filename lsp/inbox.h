#pragma once
// The messages that have arrived and were not handled yet. A thread of its own reads them, so that work that
// is going on can be given up when one comes.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "lsp/transport.h"

namespace quern::lsp {

class Inbox {
 public:
  /// Reads until the input ends, or until the inbox goes.
  explicit Inbox(Transport& transport);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// The next message; waits for it. Nothing at the end of the input.
  std::optional<std::string> next();
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
  std::set<std::string> cancelled_;  ///< ids of requests that are not answered yet, or were before it came
  std::atomic<bool> waiting_ = false, overtaken_ = false;
  bool ended_ = false;
  std::thread reader_;
};

}  // namespace quern::lsp
