#pragma once
// The threads that kernels run on.

#include <cstdint>
#include <functional>

namespace quern {

/// From 1 on; where nobody set it: QUERN_THREADS, or as many as the process has cores.
int thread_count();
void set_thread_count(int count);

/// Calls `body(begin, end)` for parts of 0 <= step < count that make up the whole, on up to thread_count()
/// threads, and returns when all are done. Which parts there are is not said; where there is a choice, none
/// has fewer steps than `least`.
void for_each_part(int64_t count, int64_t least, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace quern
