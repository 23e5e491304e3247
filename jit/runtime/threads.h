#pragma once
// The threads that kernels run on.

#include <cstdint>
#include <functional>

namespace quern {

/// At least 1; by default QUERN_THREADS, or the number of the process's cores.
int thread_count();
void set_thread_count(int count);

/// Calls `body(begin, end)` for parts that partition 0 <= step < count, on up to thread_count() threads, and
/// returns when all are done. The partition is unspecified; if possible, no part has fewer than `least`
/// steps.
void for_each_part(int64_t count, int64_t least, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace quern
