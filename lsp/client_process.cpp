#include "lsp/client_process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace quern::lsp {

ClientProcess::ClientProcess(int id, std::function<void()> ended)
    : process_(static_cast<int>(syscall(SYS_pidfd_open, id, 0))), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (process_.number() < 0 || wake_.number() < 0) return;
  thread_ = std::thread([this, ended = std::move(ended)] {
    pollfd files[] = {{process_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}};
    while (poll(files, 2, -1) < 0 && errno == EINTR) {
    }
    if (files[0].revents != 0) ended();
  });
}

ClientProcess::~ClientProcess() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.number(), &one, sizeof one);
  thread_.join();
}

}  // namespace quern::lsp
