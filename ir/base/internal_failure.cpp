#include "ir/base/internal_failure.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "ir/base/result.h"

namespace quern {

namespace {

thread_local const Stage* innermost_stage = nullptr;

/// A source file's path within the project: the compiler is given full paths.
std::string_view within_project(std::string_view file) {
  constexpr std::string_view kThis = "ir/base/internal_failure.cpp", kHere = __FILE__;
  constexpr std::string_view kRoot = kHere.substr(0, kHere.size() - kThis.size());
  return file.starts_with(kRoot) ? file.substr(kRoot.size()) : file;
}

/// The lowest address of the thread's stack at which a recursion step may still begin.
const char* stack_limit() {
  // Enough for LLVM on a large function, and for the unwinder.
  constexpr size_t kReserve = 256 << 10;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return known && bytes > 2 * kReserve ? static_cast<const char*>(lowest) + kReserve : nullptr;
}

}  // namespace

Stage::Stage(std::string_view name, Origin origin, std::string_view subject)
    : name_(name), subject_(subject), origin_(origin), around_(std::exchange(innermost_stage, this)) {
  if (origin_.declaration != 0 || !around_) return;
  origin_ = around_->origin_;
  subject_ = around_->subject_;
}

Stage::~Stage() { innermost_stage = around_; }

std::string_view Stage::current() { return innermost_stage ? innermost_stage->name_ : std::string_view(); }

InternalFailure::InternalFailure(std::string reason, std::string_view file, int line)
    : message_(std::move(reason)) {
  if (innermost_stage) {
    stage = innermost_stage->name_;
    origin = innermost_stage->origin_;
    subject = innermost_stage->subject_;
  }
  if (!stage.empty()) message_ += fmt::format(", in the stage `{}`", stage);
  if (!subject.empty()) message_ += fmt::format(" of `{}`", subject);
  if (!file.empty()) message_ += fmt::format(" ({}:{})", within_project(file), line);
}

void bug(const char* condition, const char* file, int line) {
  throw InternalFailure(fmt::format("`{}` does not hold", condition), file, line);
}

void check_stack() {
  thread_local const char* const limit = stack_limit();
  const bool stack_is_left = static_cast<const char*>(__builtin_frame_address(0)) > limit;
  QUERN_CHECK(stack_is_left);
}

#ifdef QUERN_FAIL_CHECKS

namespace {

std::string_view planted() {
  const char* value = std::getenv("QUERN_FAIL_CHECK");
  return value ? value : "";
}

const std::string_view where_to_fail = planted();
// Threads that count together slow each other down.
std::atomic<bool> is_asked = !where_to_fail.empty();
std::atomic<int64_t> executed = 0, to_fail = std::atoll(where_to_fail.data());

}  // namespace

// Asked at each step of each walk over a tree.
bool Stage::is_planted() {
  if (where_to_fail.empty() || !innermost_stage) return false;
  const std::string_view where = where_to_fail;
  const size_t blank = where.find(' ');
  const std::string_view subject =
      blank == std::string_view::npos ? std::string_view() : where.substr(blank + 1);
  return innermost_stage->name_ == where.substr(0, blank) &&
         innermost_stage->subject_.find(subject) != std::string_view::npos;
}

bool fails_now() {
  return is_asked.load(std::memory_order_relaxed) &&
         (++executed == to_fail.load(std::memory_order_relaxed) || Stage::is_planted());
}

void fail_check(int64_t n) {
  is_asked = true;
  to_fail = n > 0 ? executed + n : 0;
}

int64_t checks_executed() {
  is_asked = true;
  return executed;
}

#endif

}  // namespace quern
