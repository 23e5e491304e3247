#include "serve/language_thread.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "ir/base/internal_failure.h"
#include "lsp/server.h"
#include "repl/command_files.h"
#include "repl/session_thread.h"

namespace quern::serve {

namespace {

/// Larger than any answer, and less than a machine's memory.
constexpr size_t kMostUnsent = size_t{64} << 20;

}  // namespace

void MessageQueue::receive(std::string message) {
  const std::lock_guard lock(mutex_);
  received_.push_back(std::move(message));
  changed_.notify_all();
}

void MessageQueue::sent(size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_ -= bytes;
  changed_.notify_all();
}

std::optional<std::string> MessageQueue::read() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !received_.empty(); });
  if (ended_) return std::nullopt;
  std::string message = std::move(received_.front());
  received_.pop_front();
  return message;
}

void MessageQueue::interrupt() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void MessageQueue::write(std::string_view text) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || unsent_ < kMostUnsent; });
    if (ended_) return;
    unsent_ += text.size();
  }
  send_(std::string(text));
}

LanguageThread::LanguageThread(std::function<std::unique_ptr<Session>()> make_session,
                               std::vector<std::string> evaluator, std::function<void(std::string)> send,
                               std::function<void()> ended)
    : messages_(std::move(send)) {
  const auto serve = [this, make_session = std::move(make_session), evaluator = std::move(evaluator)] {
    const auto bug = failure_of([&] {
      const std::unique_ptr<Session> session = make_session();
      lsp::run_language_server(*session, messages_, {evaluator, {}});
    });
    if (bug) say(fmt::format("a bug of Quern: {}", bug->what()));
    return 0;
  };
  thread_ = std::thread([serve, ended = std::move(ended)] {
    on_session_thread(serve);
    ended();
  });
}

LanguageThread::~LanguageThread() {
  messages_.interrupt();
  thread_.join();
}

}  // namespace quern::serve
