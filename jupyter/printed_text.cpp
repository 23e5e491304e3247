#include "jupyter/printed_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <utility>

namespace quern::jupyter {

namespace {

/// The number of bytes at the end of a text that begin an incomplete character.
size_t begun_character(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

PrintedText::PrintedText() : streams_{redirected(STDOUT_FILENO), redirected(STDERR_FILENO)} {}

PrintedText::~PrintedText() {
  std::fflush(nullptr);
  for (const Stream& stream : streams_) {
    dup2(stream.before, stream.descriptor);
    close(stream.before);
    close(stream.read_end);
  }
}

PrintedText::Stream PrintedText::redirected(int descriptor) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {descriptor, dup(descriptor), -1, {}};
  // Only the read end: a writer blocks while the pipe is full.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const int before = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  dup2(ends[1], descriptor);
  close(ends[1]);
  return {descriptor, before, ends[0], {}};
}

PrintedText::Texts PrintedText::take() { return {take(streams_[0]), take(streams_[1])}; }

std::string PrintedText::take(Stream& stream) {
  std::string text = std::move(stream.rest);
  std::array<char, 1 << 16> buffer;
  for (ssize_t n; (n = read(stream.read_end, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(n));
  const size_t begun = begun_character(text);
  stream.rest = text.substr(text.size() - begun);
  text.resize(text.size() - begun);
  return text;
}

}  // namespace quern::jupyter
