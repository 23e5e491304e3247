#include "lsp/inbox.h"

#include <nlohmann/json.hpp>

namespace quern::lsp {

Inbox::Inbox(Transport& transport) : transport_(transport), reader_([this] { read_all(); }) {}

Inbox::~Inbox() {
  transport_.interrupt();
  reader_.join();
}

void Inbox::read_all() {
  while (std::optional<std::string> message = transport_.read()) {
    std::lock_guard lock(mutex_);
    if (take_cancellation(*message)) continue;
    if (message->find("\"textDocument/didChange\"") != std::string::npos) overtaken_ = true;
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
  if (messages_.empty()) cancelled_.clear();
  arrived_.wait(lock, [this] { return ended_ || !messages_.empty(); });
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  waiting_ = !messages_.empty();
  overtaken_ = false;
  return message;
}

// What it cancels came before it, so that the ids may be forgotten when nothing waits.
bool Inbox::take_cancellation(const std::string& message) {
  if (message.find("\"$/cancelRequest\"") == std::string::npos) return false;
  const auto json = nlohmann::json::parse(message, nullptr, false);
  static const nlohmann::json::json_pointer kId("/params/id");
  if (!json.is_object() || json.value("method", nlohmann::json()) != "$/cancelRequest") return false;
  if (json.contains(kId)) cancelled_.insert(json.at(kId).dump());
  overtaken_ = true;
  return true;
}

bool Inbox::is_cancelled(const std::string& id) {
  std::lock_guard lock(mutex_);
  return cancelled_.erase(id) > 0;
}

}  // namespace quern::lsp
