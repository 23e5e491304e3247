// Any bytes as what a client of the language server sends: lines are the contents of messages, or, where the
// first byte is odd, the whole is the stream. The server ends with the input; no internal check fails.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lsp/server.h"
#include "lsp/stream_transport.h"
#include "tests/fuzz/fail.h"

namespace {

std::string framed(std::string_view lines) {
  std::string stream;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    stream += "Content-Length: " + std::to_string(line.size()) + "\r\n\r\n";
    stream += line;
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return stream;
}

std::string contents(int file) {
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) text.clear();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return -1;
  static quern::Session* session = nullptr;
  static int uses = 0;
  // Documents that nobody closed stay in a session.
  if (uses++ % 256 == 0) {
    delete session;
    session = new quern::Session();
    std::signal(SIGPIPE, SIG_IGN);
  }
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string stream = data[0] % 2 == 1 ? std::string(rest) : framed(rest);
  const int in = memfd_create("messages", 0), out = memfd_create("replies", 0);
  if (write(in, stream.data(), stream.size()) == static_cast<ssize_t>(stream.size())) {
    lseek(in, 0, SEEK_SET);
    quern::lsp::StreamTransport transport(in, out);
    quern::lsp::run_language_server(*session, transport);
  }
  const std::string replies = contents(out);
  // A request that failed, and a diagnostic.
  for (const char* bug : {R"("code":-32603)", R"("code":"Q0901")"})
    if (replies.find(bug) != std::string::npos) quern::fuzz::fail("an internal check failed", replies);
  close(in);
  close(out);
  return 0;
}
