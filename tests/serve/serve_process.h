#pragma once
// `quern serve` as a process, and clients of it that write whatever bytes they like.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/child_process.h"

namespace quern::serve_test {

/// The server on a port that was free.
class ServeProcess : public ChildProcess {
 public:
  explicit ServeProcess(const std::string& page, const std::vector<std::string>& options = {});

  /// What it printed: `http://127.0.0.1:PORT/?token=TOKEN`.
  const std::string& address() const { return address_; }
  std::string token() const;
  uint16_t port() const;
  size_t threads() const;
  /// The exit code after a signal, as `exit_code` has it.
  std::optional<int> end_by(int signal);

 private:
  std::string address_;
};

struct Response {
  int status = 0;
  std::string head, body;
};

/// A frame of a WebSocket.
struct Frame {
  int opcode = 0;
  std::string payload;

  /// Of a frame that closes.
  int close_code() const;
};

class RawClient {
 public:
  explicit RawClient(uint16_t port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void write(std::string_view bytes);
  /// Nothing where the server does not answer.
  std::optional<Response> read_response();
  std::optional<Frame> read_frame();
  /// Closes it so that the server sees a broken connection.
  void vanish();

  /// The bytes of a frame; what a client sends is masked.
  static std::string frame(int opcode, std::string_view payload, bool masked = true);

 private:
  bool fill();

  int socket_ = -1;
  std::string buffer_;
};

constexpr int kText = 1, kBinary = 2, kClose = 8;

/// A request with the fields given, each with its `\r\n`.
std::string request(std::string_view target, std::string_view fields, std::string_view method = "GET");
/// The fields of a WebSocket's handshake, without Host, Origin and the token.
std::string_view upgrade_fields();

}  // namespace quern::serve_test
