#include "lsp/stream_transport.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <utility>

namespace quern::lsp {

namespace {

constexpr std::string_view kLengthHeader = "content-length:";
constexpr size_t kLongestLine = 8192;

void log(std::string_view text) { std::fputs(fmt::format("quern lsp: {}\n", text).c_str(), stderr); }

size_t find_ignoring_case(std::string_view text, std::string_view wanted) {
  auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  auto it = std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same);
  return it == text.end() ? std::string_view::npos : static_cast<size_t>(it - text.begin());
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<size_t> length_in(std::string_view text) {
  size_t length = 0;
  text = trimmed(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && length <= Transport::kLongestMessage ? std::optional(length) : std::nullopt;
}

// A header is a name of letters, digits and dashes, and a colon.
bool is_header(std::string_view line) {
  size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view name = line.substr(0, colon);
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

}  // namespace

StreamTransport::StreamTransport(int in, int out, std::chrono::milliseconds patience)
    : in_(in), out_(out), patience_(static_cast<int>(patience.count())) {
  if (pipe2(wake_, O_CLOEXEC) == 0) return;
  // Without it nothing could end a thread that waits.
  wake_[0] = wake_[1] = -1;
  broken_ = true;
}
StreamTransport::~StreamTransport() {
  close(wake_[0]);
  close(wake_[1]);
}

std::optional<std::string> StreamTransport::read() {
  while (!broken_) {
    if (take_message()) return std::exchange(next_, std::nullopt);
    if (!fill()) break;
  }
  return std::nullopt;
}

void StreamTransport::interrupt() {
  char any = 0;
  while (::write(wake_[1], &any, 1) < 0 && errno == EINTR) {
  }
}

void StreamTransport::write(std::string_view text) {
  std::string framed = fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
  std::string_view rest = framed;
  while (!rest.empty() && !broken_) {
    pollfd ready[] = {{out_, POLLOUT, 0}, {wake_[0], POLLIN, 0}};
    if (poll(ready, 2, patience_) < 0 && errno == EINTR) continue;
    // A pipe that is ready takes so much without a wait, in which nothing could interrupt it.
    const size_t most = std::min<size_t>(rest.size(), PIPE_BUF);
    const ssize_t written = ready[0].revents != 0 ? ::write(out_, rest.data(), most) : -1;
    if (written >= 0)
      rest.remove_prefix(static_cast<size_t>(written));
    else if (ready[0].revents == 0 || errno != EINTR)
      broken_ = true;
  }
}

bool StreamTransport::fill() {
  buffer_.erase(0, std::exchange(begin_, 0));
  char chunk[65536];
  while (true) {
    pollfd ready[] = {{in_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno == EINTR) continue;
    if (ready[1].revents) return false;
    ssize_t got = ::read(in_, chunk, sizeof chunk);
    if (got > 0) {
      buffer_.append(chunk, static_cast<size_t>(got));
      return true;
    }
    if (got < 0 && errno == EINTR) continue;
    if (!buffer_.empty() || in_header_ || body_length_) log("the input ends inside a message");
    return false;
  }
}

bool StreamTransport::take_message() {
  while (!body_length_)
    if (!take_header_line()) return false;
  if (unread().size() < *body_length_) return false;
  next_ = unread().substr(0, *body_length_);
  begin_ += *body_length_;
  body_length_.reset();
  return true;
}

bool StreamTransport::take_header_line() {
  size_t end = unread().find('\n');
  if (end == std::string_view::npos) {
    skip_overlong_line();
    return false;
  }
  std::string_view line = unread().substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  read_header(line);
  begin_ += end + 1;
  return true;
}

void StreamTransport::read_header(std::string_view line) {
  if (line.empty()) {
    if (in_header_ && !length_) log("a header without a valid Content-Length is skipped");
    body_length_ = std::exchange(length_, std::nullopt);
    in_header_ = false;
    return;
  }
  in_header_ = true;
  size_t at = find_ignoring_case(line, kLengthHeader);
  if (at == std::string_view::npos) {
    if (!is_header(line)) log("a line that is no header is skipped");
    return;
  }
  if (at > 0) log("text before a Content-Length header is skipped");
  length_ = length_in(line.substr(at + kLengthHeader.size()));
}

// Keeps as much as a Content-Length header that is still arriving may need.
void StreamTransport::skip_overlong_line() {
  if (unread().size() <= kLongestLine) return;
  log("a header line that is too long is skipped");
  in_header_ = true;
  begin_ = buffer_.size() - 64;
}

}  // namespace quern::lsp
