#pragma once
// The thread that owns all queries. Syntax trees and graphs are walked by recursion, so it has a stack far
// larger than the main thread's; pages that are not touched cost nothing.

#include <functional>

namespace quern {

/// Runs `work` on a thread with a 1 GiB stack and returns what it returns.
int on_session_thread(const std::function<int()>& work);

}  // namespace quern
