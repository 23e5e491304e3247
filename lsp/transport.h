#pragma once
// The source and the destination of a server's messages.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace quern::lsp {

class Transport {
 public:
  /// The longest message that is accepted, in bytes.
  static constexpr size_t kLongestMessage = size_t{1} << 30;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// The text of the next message; waits for it. Nothing once the client is gone, and once interrupted.
  virtual std::optional<std::string> read() = 0;
  /// Ends the current or the next waiting `read`, and a `write` that waits. Any thread may call it; any thread but the
  /// reading one may call `write`.
  virtual void interrupt() = 0;
  /// Sends a message; one to a client that is gone is dropped.
  virtual void write(std::string_view text) = 0;
};

}  // namespace quern::lsp
