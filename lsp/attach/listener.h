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
  /// Runs a function on the server's thread, soon.
  using Post = std::function<void(std::function<void()>)>;

  /// Fails where the socket cannot be had.
  static Result<std::unique_ptr<Listener>> open(ServerState& state, std::filesystem::path socket, Post post);
  /// The socket goes, and its prompts are told by that.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Tells the prompts of texts that changed since they were told last. On the server's thread.
  void publish();

 private:
  struct Peer;

  Listener(ServerState& state, std::filesystem::path socket, std::string token, OwnedFile listening,
           Post post);
  void accept_all();
  void add(OwnedFile file);
  /// What a prompt has not been told yet.
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
