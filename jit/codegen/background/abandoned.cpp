#include "jit/codegen/background/abandoned.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "ir/base/interrupt.h"

namespace quern::codegen {

namespace {

std::atomic<bool> is_abandoned_at_end = false;
std::atomic<bool> has_abandoned = false;

struct Work {
  explicit Work(std::function<void()> work) : work(std::move(work)) {}

  std::function<void()> work;
  std::mutex mutex{};
  std::condition_variable changed{};
  bool is_done = false;
  std::exception_ptr failure{};

  void perform() {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex);
      is_done = true;
      failure = std::move(thrown);
    }
    changed.notify_all();
  }
};

}  // namespace

bool done_unless_interrupted(std::function<void()> work) {
  // The polling interval of the flag, since a signal handler cannot notify.
  constexpr std::chrono::milliseconds kGlance{10};
  const auto shared = std::make_shared<Work>(std::move(work));
  std::thread thread([shared] { shared->perform(); });
  {
    std::unique_lock lock(shared->mutex);
    while (!shared->is_done && !is_interrupted()) shared->changed.wait_for(lock, kGlance);
    if (!shared->is_done) {
      thread.detach();
      note_abandoned_thread();
      return false;
    }
  }
  thread.join();
  if (shared->failure) std::rethrow_exception(shared->failure);
  return true;
}

void abandon_work_at_end() { is_abandoned_at_end = true; }
bool is_work_abandoned_at_end() { return is_abandoned_at_end; }
void note_abandoned_thread() { has_abandoned = true; }

int end_process(int code) {
  if (!has_abandoned) return code;
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace quern::codegen
