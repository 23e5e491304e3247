#pragma once
// Failures of the outside world (files, compilers, databases) as values. A user's mistake in a program is a
// Diagnostic (frontend/text/diagnostics.h) instead, and a bug is a QUERN_CHECK that throws.

#include <string>
#include <utility>
#include <variant>

namespace quern {

/// Why something outside the program did not work; `message` is a full sentence fit to show a user.
struct Failure {
  std::string message;
};

/// A value of type T, or a Failure instead of it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}            // NOLINT
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT

  explicit operator bool() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Failure& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

/// The result of an action that yields nothing.
struct Done {};

/// Throws an InternalFailure (ir/base/internal_failure.h), reported by the code that runs an input, a request
/// or a program.
[[noreturn]] void bug(const char* condition, const char* file, int line);

#ifdef QUERN_FAIL_CHECKS
/// Whether the current check is the one that `fail_check` (ir/base/internal_failure.h) selected.
bool fails_now();
#define QUERN_CHECK(condition) \
  ((condition) && !::quern::fails_now() ? void(0) : ::quern::bug(#condition, __FILE__, __LINE__))
#else
/// Aborts the current work if an invariant of Quern itself is broken.
#define QUERN_CHECK(condition) ((condition) ? void(0) : ::quern::bug(#condition, __FILE__, __LINE__))
#endif

}  // namespace quern
