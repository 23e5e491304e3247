#pragma once
// The server's side of the socket on which prompts attach to it.

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "lsp/attach/attach_messages.h"
#include "lsp/attach/local_socket.h"

namespace quern::lsp {

struct ServerState;

class Listener {
 public:
  /// Schedules a function on the server's thread.
  using Post = std::function<void(std::function<void()>)>;

  /// Fails if the socket cannot be created.
  static Result<std::unique_ptr<Listener>> open(ServerState& state, std::filesystem::path socket, Post post);
  /// Closes the socket, which notifies its prompts.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Sends the prompts the texts that changed since the last time. On the server's thread.
  void publish();

 private:
  struct Peer;

  Listener(ServerState& state, std::filesystem::path socket, std::string token, OwnedFile listening,
           Post post);
  void accept_all();
  void add(OwnedFile file);
  /// The changes that have not been sent to a prompt yet.
  OpenTexts changed_texts(Peer& peer);

  ServerState& state_;
  const std::filesystem::path socket_;
  const std::string token_;
  OwnedFile listening_, wake_;
  Post post_;
  std::map<uint64_t, std::unique_ptr<Peer>> peers_;
  uint64_t last_peer_ = 0;
  std::thread thread_;
};

}  // namespace quern::lsp
