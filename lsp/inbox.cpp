#include "lsp/inbox.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "lsp/parse_json.h"

namespace quern::lsp {

Inbox::Inbox(Transport& transport, std::function<void(const std::string&)> cancelled)
    : transport_(transport), when_cancelled_(std::move(cancelled)), reader_([this] { read_all(); }) {}

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

void Inbox::post(Task task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  arrived_.notify_one();
}

std::optional<std::variant<std::string, Inbox::Task>> Inbox::next() {
  std::unique_lock lock(mutex_);
  if (messages_.empty()) cancelled_.clear();
  arrived_.wait(lock, [this] { return ended_ || !messages_.empty() || !tasks_.empty(); });
  if (!tasks_.empty()) {
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  waiting_ = !messages_.empty();
  overtaken_ = false;
  return message;
}

// A cancelled request arrives before its cancellation, so the ids can be dropped when nothing waits.
bool Inbox::take_cancellation(const std::string& message) {
  if (message.find("\"$/cancelRequest\"") == std::string::npos) return false;
  const auto json = parse_json<nlohmann::json>(message);
  static const nlohmann::json::json_pointer kId("/params/id");
  if (!json.is_object() || json.value("method", nlohmann::json()) != "$/cancelRequest") return false;
  if (json.contains(kId)) {
    const std::string id = json.at(kId).dump();
    cancelled_.insert(id);
    tasks_.push_back([this, id] { when_cancelled_(id); });
    arrived_.notify_one();
  }
  overtaken_ = true;
  return true;
}

bool Inbox::is_cancelled(const std::string& id) {
  std::lock_guard lock(mutex_);
  return cancelled_.erase(id) > 0;
}

}  // namespace quern::lsp
