#include "tests/lsp/server_process.h"

#include <fmt/format.h>

#include <cstdlib>

namespace quern::lsp_test {

namespace {

std::vector<std::string> command_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{QUERN_BINARY, "lsp"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

lsp::SpawnOptions piped() {
  lsp::SpawnOptions options;
  options.input = options.output = lsp::SpawnOptions::Stream::Piped;
  return options;
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& arguments)
    : ChildProcess(command_of(arguments), piped()) {}

std::optional<std::string> ServerProcess::read_message() {
  constexpr std::string_view kHeader = "Content-Length: ", kEnd = "\r\n\r\n";
  while (true) {
    size_t end = buffer_.find(kEnd);
    if (end != std::string::npos) {
      if (!buffer_.starts_with(kHeader)) return std::nullopt;
      size_t length = std::strtoull(buffer_.c_str() + kHeader.size(), nullptr, 10);
      size_t begin = end + kEnd.size();
      if (buffer_.size() >= begin + length) {
        std::string text = buffer_.substr(begin, length);
        buffer_.erase(0, begin + length);
        return text;
      }
    }
    if (!read(buffer_)) return std::nullopt;
  }
}

std::string ServerProcess::framed(std::string_view text) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

}  // namespace quern::lsp_test
