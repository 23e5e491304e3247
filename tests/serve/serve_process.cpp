#include "tests/serve/serve_process.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace quern::serve_test {

namespace {

std::vector<std::string> command_of(const std::string& page, const std::vector<std::string>& options) {
  std::vector<std::string> words{QUERN_BINARY, "serve", "--port", "0", "--page", page};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

lsp::SpawnOptions piped() {
  lsp::SpawnOptions options;
  options.output = lsp::SpawnOptions::Stream::Piped;
  return options;
}

}  // namespace

ServeProcess::ServeProcess(const std::string& page, const std::vector<std::string>& options)
    : ChildProcess(command_of(page, options), piped()) {
  while (address_.find('\n') == std::string::npos && read(address_)) {
  }
  address_ = address_.substr(0, address_.find('\n'));
}

std::string ServeProcess::token() const { return address_.substr(address_.rfind('=') + 1); }

uint16_t ServeProcess::port() const {
  return static_cast<uint16_t>(std::strtoul(address_.c_str() + address_.rfind(':') + 1, nullptr, 10));
}

size_t ServeProcess::threads() const {
  size_t count = 0;
  for ([[maybe_unused]] const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", id())))
    ++count;
  return count;
}

std::optional<int> ServeProcess::end_by(int signal) {
  send(signal);
  return exit_code();
}

int Frame::close_code() const {
  if (opcode != kClose || payload.size() < 2) return 0;
  return static_cast<unsigned char>(payload[0]) * 256 + static_cast<unsigned char>(payload[1]);
}

RawClient::RawClient(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
  close(socket_);
  socket_ = -1;
}

RawClient::~RawClient() {
  if (socket_ >= 0) close(socket_);
}

void RawClient::vanish() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(socket_);
  socket_ = -1;
}

void RawClient::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

bool RawClient::fill() { return read_some(socket_, buffer_); }

std::optional<Response> RawClient::read_response() {
  constexpr std::string_view kLength = "Content-Length: ";
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!fill()) return std::nullopt;
  Response response;
  response.head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  response.status = std::atoi(response.head.c_str() + response.head.find(' '));
  const size_t length = response.head.find(kLength);
  if (length == std::string::npos) return response;
  const size_t size = std::strtoull(response.head.c_str() + length + kLength.size(), nullptr, 10);
  while (buffer_.size() < size)
    if (!fill()) return std::nullopt;
  response.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return response;
}

std::optional<Frame> RawClient::read_frame() {
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(buffer_[at])); };
  const auto have = [&](size_t bytes) {
    while (buffer_.size() < bytes)
      if (!fill()) return false;
    return true;
  };
  if (!have(2)) return std::nullopt;
  size_t size = byte(1), begin = 2;
  if (size > 125) {
    const size_t width = size == 126 ? 2 : 8;
    begin += width;
    if (!have(begin)) return std::nullopt;
    size = 0;
    for (size_t i = 2; i < begin; ++i) size = size << 8 | byte(i);
  }
  if (!have(begin + size)) return std::nullopt;
  Frame frame{static_cast<int>(byte(0) & 15), buffer_.substr(begin, size)};
  buffer_.erase(0, begin + size);
  return frame;
}

std::string RawClient::frame(int opcode, std::string_view payload, bool masked) {
  std::string bytes{static_cast<char>(0x80 | opcode)};
  const size_t size = payload.size();
  const int width = size < 126 ? 0 : size < 65536 ? 2 : 8;
  const size_t first = width == 0 ? size : width == 2 ? 126 : 127;
  bytes += static_cast<char>(first | (masked ? 0x80U : 0U));
  for (int i = width; i-- > 0;) bytes += static_cast<char>(size >> (8 * i));
  // A mask of zeros leaves the payload as it is.
  if (masked) bytes.append(4, '\0');
  return bytes.append(payload);
}

std::string request(std::string_view target, std::string_view fields, std::string_view method) {
  return fmt::format("{} {} HTTP/1.1\r\n{}\r\n", method, target, fields);
}

std::string_view upgrade_fields() {
  return "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
}

}  // namespace quern::serve_test
