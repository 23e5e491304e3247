#include "repl/output_capture.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "ir/base/result.h"

namespace quern {

OutputCapture::OutputCapture() : file_(memfd_create("quern output", MFD_CLOEXEC)) {
  QUERN_CHECK(file_ >= 0);
  std::fflush(stdout);
  std::fflush(stderr);
  out_ = dup(STDOUT_FILENO);
  err_ = dup(STDERR_FILENO);
  dup2(file_, STDOUT_FILENO);
  dup2(file_, STDERR_FILENO);
}

OutputCapture::~OutputCapture() {
  std::fflush(stdout);
  std::fflush(stderr);
  dup2(out_, STDOUT_FILENO);
  dup2(err_, STDERR_FILENO);
  for (int fd : {out_, err_, file_}) close(fd);
}

std::string OutputCapture::take() {
  std::fflush(stdout);
  std::fflush(stderr);
  std::string text;
  std::array<char, 4096> chunk;
  for (ssize_t n; (n = pread(file_, chunk.data(), chunk.size(), taken_)) > 0; taken_ += n)
    text.append(chunk.data(), static_cast<size_t>(n));
  return text;
}

}  // namespace quern
