#include "jit/codegen/background/background.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "ir/base/internal_failure.h"
#include "jit/codegen/background/abandoned.h"

namespace quern::codegen {

namespace {
/// A third of the weight of waiting threads: low enough to stay out of the way, but not so low that a
/// program's end is delayed long on a busy machine.
constexpr int kNiceness = 5;
}  // namespace

Background::~Background() {
  // How long a large kernel may delay the end of a program.
  constexpr std::chrono::milliseconds kGrace{300};
  if (!thread_.joinable()) return;
  std::unique_lock lock(queue_->mutex);
  queue_->is_ending = true;
  queue_->deadline = Clock::now() + patience_;
  queue_->changed.notify_all();
  const auto has_ended = [&] { return queue_->has_ended; };
  if (is_work_abandoned_at_end() && !queue_->changed.wait_until(lock, queue_->deadline + kGrace, has_ended)) {
    note_abandoned_thread();
    thread_.detach();
    return;
  }
  lock.unlock();
  thread_.join();
}

void Background::add(std::function<void()> job) {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->jobs.push_back(std::move(job));
    if (!thread_.joinable()) thread_ = std::thread([queue = queue_] { queue->run(); });
  }
  queue_->changed.notify_all();
}

void Background::wait_until_idle() {
  std::unique_lock lock(queue_->mutex);
  queue_->changed.wait(lock, [&] { return queue_->jobs.empty() && !queue_->is_busy; });
}

void Background::Queue::run() {
  // If cores are scarce, threads that are waited for go first. On Linux each thread has its own priority.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
  perform_all();
  const std::lock_guard lock(mutex);
  has_ended = true;
  changed.notify_all();
}

void Background::Queue::perform_all() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return is_ending || !jobs.empty(); });
    if (jobs.empty() || (is_ending && Clock::now() >= deadline)) return;
    is_busy = true;
    {
      const std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      if (const auto failure = failure_of(job))
        std::fprintf(stderr, "quern: a bug of Quern in the background: %s; nothing depends on it\n",
                     failure->what());
    }
    lock.lock();
    is_busy = false;
    changed.notify_all();
  }
}

}  // namespace quern::codegen
