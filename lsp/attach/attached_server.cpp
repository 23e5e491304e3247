#include "lsp/attach/attached_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace quern::lsp {

namespace fs = std::filesystem;

Result<std::unique_ptr<AttachedServer>> AttachedServer::connect(fs::path socket) {
  if (socket.empty()) {
    auto latest = latest_socket();
    if (!latest) return latest.error();
    socket = std::move(*latest);
  }
  std::string token;
  auto file = connect_to(socket, token);
  if (!file) return file.error();
  std::unique_ptr<AttachedServer> server(new AttachedServer(std::move(socket), std::move(*file), token));
  if (!server->wait_for_texts())
    return Failure{
        fmt::format("the language server at `{}` does not let this prompt in", server->socket().string())};
  return server;
}

namespace {

/// The path of a file in a prompt's imports: relative to the prompt's folder for files below it.
std::string path_at_prompt(const std::string& path) {
  std::error_code failed;
  const fs::path below = fs::path(path).lexically_relative(fs::current_path(failed));
  return failed || below.empty() || *below.begin() == ".." ? path : below.string();
}

}  // namespace

AttachedServer::AttachedServer(fs::path socket, OwnedFile file, const std::string& token)
    : socket_(std::move(socket)), file_(std::move(file)), transport_(file_.number(), file_.number()) {
  transport_.write(encode_attach(token));
  reader_ = std::thread([this] { read_all(); });
}

AttachedServer::~AttachedServer() {
  transport_.interrupt();
  reader_.join();
}

bool AttachedServer::wait_for_texts() {
  constexpr std::chrono::seconds kPatience{10};
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPatience, [this] { return is_admitted_ || ended_; });
  return is_admitted_;
}

void AttachedServer::read_all() {
  while (auto message = transport_.read()) {
    auto texts = decode_texts(*message);
    if (!texts) continue;
    const std::lock_guard lock(mutex_);
    for (const std::string& path : texts->closed) {
      texts_.erase(path);
      changes_.changed.erase(path);
      changes_.closed.push_back(path);
    }
    for (auto& [path, text] : texts->changed) {
      std::erase(changes_.closed, path);
      texts_[path] = text;
      changes_.changed[path] = std::move(text);
    }
    is_admitted_ = true;
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void AttachedServer::update(Session& session) {
  OpenTexts changes;
  {
    const std::lock_guard lock(mutex_);
    changes = std::exchange(changes_, {});
  }
  for (auto& [path, text] : changes.changed)
    opened_[path] = session.open_file(path_at_prompt(path), std::move(text));
  for (const std::string& path : changes.closed)
    if (const auto opened = opened_.extract(path)) session.close_file(opened.mapped());
}

std::optional<std::string> AttachedServer::text_of(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find(fs::absolute(file).lexically_normal().string());
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

bool AttachedServer::has_ended() {
  const std::lock_guard lock(mutex_);
  return ended_ && !std::exchange(was_told_, true);
}

}  // namespace quern::lsp
