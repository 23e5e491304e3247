#pragma once
// A prompt's side of the socket: receives the texts that an editor has open, saved or not, and sends the prompt's
// values for the editor to show.

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lsp/attach/attach_messages.h"
#include "lsp/attach/local_socket.h"
#include "lsp/stream_transport.h"
#include "session/session.h"

namespace quern::lsp {

class AttachedServer {
 public:
  /// Attaches to the server of a socket, and waits for its texts; without a path, to the server started last.
  static Result<std::unique_ptr<AttachedServer>> connect(std::filesystem::path socket);
  ~AttachedServer();
  AttachedServer(const AttachedServer&) = delete;
  AttachedServer& operator=(const AttachedServer&) = delete;

  const std::filesystem::path& socket() const { return socket_; }
  /// Updates the session, so that its imports see the editor's current texts.
  void update(Session& session);
  /// The text of a file that the editor has open.
  std::optional<std::string> text_of(const std::filesystem::path& file) const;
  /// Sends values for the editor to show.
  void show(const ValuesOfFile& values) { transport_.write(encode(values)); }
  /// Whether the server has ended; true once.
  bool has_ended();

 private:
  AttachedServer(std::filesystem::path socket, OwnedFile file, const std::string& token);
  void read_all();
  bool wait_for_texts();

  const std::filesystem::path socket_;
  OwnedFile file_;
  StreamTransport transport_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> texts_;  ///< by path
  OpenTexts changes_;                         ///< that the session has not seen
  std::map<std::string, SourceId> opened_;    ///< in the session
  bool is_admitted_ = false, ended_ = false, was_told_ = false;
  std::thread reader_;
};

}  // namespace quern::lsp
