#include "repl/session_thread.h"

#include <pthread.h>

namespace quern {

namespace {

constexpr size_t kStackBytes = size_t{1} << 30;

struct Job {
  const std::function<int()>& work;
  int result = 70;
};

void* run(void* argument) {
  auto* job = static_cast<Job*>(argument);
  job->result = job->work();
  return nullptr;
}

}  // namespace

int on_session_thread(const std::function<int()>& work) {
  Job job{work};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  bool started = pthread_create(&thread, &attributes, run, &job) == 0;
  pthread_attr_destroy(&attributes);
  // If the address space is limited, the work runs on the main thread's own stack.
  if (!started) return work();
  pthread_join(thread, nullptr);
  return job.result;
}

}  // namespace quern
