#include "lsp/inbox.h"

namespace quern::lsp {

Inbox::Inbox(Transport& transport) : transport_(transport), reader_([this] { read_all(); }) {}

Inbox::~Inbox() {
  transport_.interrupt();
  reader_.join();
}

void Inbox::read_all() {
  while (std::optional<std::string> message = transport_.read()) {
    std::lock_guard lock(mutex_);
    messages_.push_back(std::move(*message));
    waiting_ = true;
    arrived_.notify_one();
  }
  std::lock_guard lock(mutex_);
  ended_ = true;
  arrived_.notify_one();
}

std::optional<std::string> Inbox::next() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return ended_ || !messages_.empty(); });
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  waiting_ = !messages_.empty();
  return message;
}

}  // namespace quern::lsp
