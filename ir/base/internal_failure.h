#pragma once
// A bug of Quern, as what a QUERN_CHECK throws: which invariant does not hold, and where the compiler was.

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "ir/base/origin.h"

namespace quern {

/// The one exception that crosses folders. Who runs an input, a request or a program catches it and goes on
/// (session/internal_errors.h).
class InternalFailure : public std::exception {
 public:
  /// `reason` is a sentence without its end; `file` and `line` are those of the check, where there is one.
  explicit InternalFailure(std::string reason, std::string_view file = {}, int line = 0);

  std::string stage;    ///< the name of the innermost Stage; empty outside of any
  Origin origin;        ///< that of the innermost Stage that has one
  std::string subject;  ///< what is called so there: `@f`
  /// All of it in a sentence.
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// A step of the compiler, as long as it lives: what a check that fails meanwhile tells of.
class Stage {
 public:
  /// The texts have to live as long. Without an origin, it is that of the stage around this one.
  explicit Stage(std::string_view name, Origin origin = {}, std::string_view subject = {});
  ~Stage();
  /// The name of the innermost one.
  static std::string_view current();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

#ifdef QUERN_FAIL_CHECKS
  /// Whether every check of this place is asked to fail: QUERN_FAIL_CHECK is the name of a stage and, after a
  /// blank, a part of its subject.
  static bool is_planted();
#endif

 private:
  friend class InternalFailure;
  std::string_view name_, subject_;
  Origin origin_;
  const Stage* around_;
};

/// The failure that ended `work`, that of memory too; nothing where it came to its end.
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

/// Fails where less of the thread's stack is left than a step of a recursion takes. Who visits children calls
/// it.
void check_stack();

#ifdef QUERN_FAIL_CHECKS
/// The n-th check (from 1) from now on fails, whatever its condition; with 0 none does. At the start of a
/// process it is the number in QUERN_FAIL_CHECK, if that is one.
void fail_check(int64_t n);
/// How many checks the process has executed.
int64_t checks_executed();
#endif

}  // namespace quern
