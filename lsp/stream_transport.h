#pragma once
// Messages on a byte stream, framed by `Content-Length` headers.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lsp/transport.h"

namespace quern::lsp {

/// Reads and writes framed messages on a pair of file descriptors, until the input ends or a write fails. Headers
/// other than Content-Length are skipped. If the framing is broken, a line goes to stderr and reading resumes at the
/// next `Content-Length:`.
class StreamTransport final : public Transport {
 public:
  /// A write that the other side lets wait for longer than `patience` fails; less than 0 waits until interrupted.
  StreamTransport(int in, int out, std::chrono::milliseconds patience = std::chrono::milliseconds(-1));
  ~StreamTransport() override;

  std::optional<std::string> read() override;
  void interrupt() override;
  void write(std::string_view text) override;

 private:
  std::string_view unread() const { return std::string_view(buffer_).substr(begin_); }
  bool fill();
  bool take_message();
  bool take_header_line();
  void read_header(std::string_view line);
  void skip_overlong_line();

  int in_, out_;
  const int patience_;  ///< milliseconds
  int wake_[2];         ///< a pipe: what is written to its second end interrupts a waiting thread
  std::atomic<bool> broken_ = false;
  std::string buffer_;                 ///< what was received
  size_t begin_ = 0;                   ///< where its unread part begins
  bool in_header_ = false;             ///< after a header's first line
  std::optional<size_t> length_;       ///< from the header that is being read
  std::optional<size_t> body_length_;  ///< of the body that follows, once its header is complete
  std::optional<std::string> next_;    ///< a whole message
};

}  // namespace quern::lsp
