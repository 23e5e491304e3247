#pragma once
// A bug in Quern, thrown by a failed QUERN_CHECK: the violated invariant, and where the compiler was.

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "ir/base/origin.h"

namespace quern {

/// The only exception that crosses folders. The code that runs an input, a request or a program catches it
/// and continues (session/internal_errors.h).
class InternalFailure : public std::exception {
 public:
  /// `reason` is a sentence without a period; `file` and `line` locate the check, if there was one.
  explicit InternalFailure(std::string reason, std::string_view file = {}, int line = 0);

  std::string stage;    ///< the name of the innermost Stage; empty outside any
  Origin origin;        ///< of the innermost Stage that has one
  std::string subject;  ///< the declaration concerned: `@f`
  /// The whole failure as one sentence.
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Marks a step of the compiler for its lifetime; a check that fails meanwhile reports it.
class Stage {
 public:
  /// The texts must outlive the stage. Without an origin, the enclosing stage's applies.
  explicit Stage(std::string_view name, Origin origin = {}, std::string_view subject = {});
  ~Stage();
  /// The name of the innermost stage.
  static std::string_view current();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

#ifdef QUERN_FAIL_CHECKS
  /// Whether every check at this place must fail: QUERN_FAIL_CHECK is the name of a stage and, after a blank,
  /// a part of its subject.
  static bool is_planted();
#endif

 private:
  friend class InternalFailure;
  std::string_view name_, subject_;
  Origin origin_;
  const Stage* around_;
};

/// The failure that ended `work`, including running out of memory; nothing if it completed.
template <class Work>
std::optional<InternalFailure> failure_of(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const InternalFailure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    return InternalFailure("there is not enough memory");
  }
}

/// Fails if the thread has less stack left than one recursion step takes. Code that visits children calls it.
void check_stack();

#ifdef QUERN_FAIL_CHECKS
/// Makes the n-th check from now (counting from 1) fail, whatever its condition; 0 disables this. Initially n
/// is the number in QUERN_FAIL_CHECK, if that is one.
void fail_check(int64_t n);
/// How many checks the process has executed since this, or `fail_check`, was first called.
int64_t checks_executed();
#endif

}  // namespace quern
