#pragma once
// The thread that owns all queries. Syntax trees and graphs are walked recursively, so its stack is far larger than the
// main thread's; untouched pages cost nothing.

#include <functional>

namespace quern {

/// Runs `work` on a thread with a 1 GiB stack and returns what it returns.
int on_session_thread(const std::function<int()>& work);

}  // namespace quern
