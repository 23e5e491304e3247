#include "jit/codegen/background.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "ir/base/internal_failure.h"

namespace quern::codegen {

namespace {
/// A third of the weight of who waits: low enough to stay out of the way, and not so low that the end of a
/// program on a busy machine waits long.
constexpr int kNiceness = 5;
}  // namespace

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    deadline_ = Clock::now() + patience_;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::add(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  changed_.notify_all();
}

void Background::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !is_busy_; });
}

void Background::run() {
  // Where there are not enough cores, those that somebody waits for go first. On Linux a thread has a
  // priority of its own.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || !jobs_.empty(); });
    if (jobs_.empty() || (is_ending_ && Clock::now() >= deadline_)) return;
    is_busy_ = true;
    {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      if (const auto failure = failure_of(job))
        std::fprintf(stderr, "quern: a bug of Quern in the background: %s; nothing depends on it\n",
                     failure->what());
    }
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace quern::codegen
