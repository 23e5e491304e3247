#pragma once
// The language server as a process that a test talks to.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/child_process.h"

namespace quern::lsp_test {

/// `quern lsp` with its input and output on pipes.
class ServerProcess : public ChildProcess {
 public:
  /// `arguments` follow `quern lsp`.
  explicit ServerProcess(const std::vector<std::string>& arguments = {});

  /// With its Content-Length header.
  void write_message(std::string_view text) { write(framed(text)); }
  /// The text of the next message; nothing at the end of the output or when none comes in time.
  std::optional<std::string> read_message();

  static std::string framed(std::string_view text);

 private:
  std::string buffer_;
};

}  // namespace quern::lsp_test
