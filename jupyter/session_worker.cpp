#include "jupyter/session_worker.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "ir/base/interrupt.h"
#include "repl/command_files.h"
#include "repl/interrupt.h"
#include "repl/session_thread.h"
#include "repl/workspace.h"
#include "session/session.h"

namespace quern::jupyter {

SessionWorker::SessionWorker(ShowPicture show_picture) : show_picture_(std::move(show_picture)) {
  thread_ = std::thread([this] { on_session_thread([this] { return serve(); }); });
}

SessionWorker::~SessionWorker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  request_interrupt();
  changed_.notify_all();
  thread_.join();
}

void SessionWorker::run(const Work& work, const std::function<void()>& meanwhile) {
  constexpr std::chrono::milliseconds kGlance{50};
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  while (!changed_.wait_for(lock, kGlance, [&] { return work_ == nullptr; })) {
    lock.unlock();
    meanwhile();
    lock.lock();
  }
  lock.unlock();
  meanwhile();
}

int SessionWorker::serve() {
  auto files = library("");
  if (!files) {
    std::fprintf(stderr, "%s\n", files.error().message.c_str());
    return 1;
  }
  Session session(std::move(*files));
  ReplOptions options;
  options.interactive = true;
  options.colour = true;
  options.show_picture = show_picture_;
  Workspace workspace(session, options);
  const Interrupts interrupts;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || work_; });
    if (is_ending_) return 0;
    lock.unlock();
    {
      const InterruptibleWork interruptible;
      session.watch(&interrupt_flag);
      (*work_)(workspace);
    }
    std::fflush(nullptr);
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace quern::jupyter
