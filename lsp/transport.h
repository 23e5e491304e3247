#pragma once
// What a server's messages come from and go to.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace quern::lsp {

class Transport {
 public:
  /// The longest message that is taken, in bytes.
  static constexpr size_t kLongestMessage = size_t{1} << 30;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// The text of the next message; waits for it. Nothing once the client is gone, and once interrupted.
  virtual std::optional<std::string> read() = 0;
  /// Ends a `read` that waits, now or later. Any thread may call it; so may any other than the reading one
  /// call `write`.
  virtual void interrupt() = 0;
  /// Sends a message; one to a client that is gone is dropped.
  virtual void write(std::string_view text) = 0;
};

}  // namespace quern::lsp
