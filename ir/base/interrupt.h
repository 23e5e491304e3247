#pragma once
// A user's request to stop what is running (Ctrl-C): a flag that both evaluators, compiled kernels, extern
// kernels and the compiler poll, often enough to stop within some tens of milliseconds.

#include <atomic>

namespace quern {

/// Stays set until whoever set it clears it. Compiled kernels read it as a byte.
inline constinit std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free && sizeof interrupt_flag == 1);

/// A signal handler may call it.
inline void request_interrupt() { interrupt_flag.store(true, std::memory_order_relaxed); }
inline void clear_interrupt() { interrupt_flag.store(false, std::memory_order_relaxed); }

/// What stops the work of one thread alone: a flag of whoever asked for it, or null. An object on the thread's stack sets
/// and restores it.
inline constinit thread_local const std::atomic<bool>* stop_flag = nullptr;

inline bool is_interrupted() {
  return interrupt_flag.load(std::memory_order_relaxed) ||
         (stop_flag && stop_flag->load(std::memory_order_relaxed));
}

/// The message of an interrupted evaluation.
inline constexpr const char* kInterrupted = "interrupted";

/// Thrown by code that cannot return early; caught within its folder.
struct Interrupted {};
inline void stop_where_interrupted() {
  if (is_interrupted()) throw Interrupted{};
}

}  // namespace quern
