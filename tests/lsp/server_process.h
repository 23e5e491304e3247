#pragma once
// The language server as a process that a test talks to.

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::lsp_test {

/// `quern lsp` with its input and output on pipes. No call waits longer than half a minute.
class ServerProcess {
 public:
  /// `arguments` follow `quern lsp`.
  explicit ServerProcess(const std::vector<std::string>& arguments = {});
  /// Ends the process if it still runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// The bytes as they are.
  void write(std::string_view bytes);
  /// With its Content-Length header.
  void write_message(std::string_view text) { write(framed(text)); }
  /// The text of the next message; nothing at the end of the output or when none comes in time.
  std::optional<std::string> read_message();
  void close_input();
  /// The exit code; nothing where the process does not end in time or ends by a signal.
  std::optional<int> exit_code();
  void kill();
  /// The processes that it has started and that have not ended.
  std::vector<pid_t> children() const;

  static std::string framed(std::string_view text);

 private:
  bool fill();

  pid_t pid_ = -1;
  int to_server_ = -1, from_server_ = -1;
  std::string buffer_;
};

}  // namespace quern::lsp_test
