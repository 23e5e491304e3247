#pragma once
// A user's wish that what is running ends (Ctrl-C): a flag that both evaluators, compiled kernels, extern
// kernels and the compiler look at, each so often that they end within some tens of milliseconds.

#include <atomic>

namespace quern {

/// Up until who raised it takes it down. Compiled kernels read it as a byte.
inline constinit std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free && sizeof interrupt_flag == 1);

/// A signal handler may call it.
inline void request_interrupt() { interrupt_flag.store(true, std::memory_order_relaxed); }
inline void clear_interrupt() { interrupt_flag.store(false, std::memory_order_relaxed); }
inline bool is_interrupted() { return interrupt_flag.load(std::memory_order_relaxed); }

/// What is reported of an evaluation that was interrupted.
inline constexpr const char* kInterrupted = "interrupted";

/// How what cannot return from where it is gives up; it is caught in this folder.
struct Interrupted {};
inline void stop_where_interrupted() {
  if (is_interrupted()) throw Interrupted{};
}

}  // namespace quern
