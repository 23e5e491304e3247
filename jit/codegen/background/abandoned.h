#pragma once
// Work that may be left behind. LLVM cannot be stopped in the middle of a function, and code of tens of thousands of instructions
// takes it seconds: who waits for that and is interrupted leaves it to a thread of its own.

#include <functional>

namespace quern::codegen {

/// Does `work` on another thread. False where a Ctrl-C comes first (ir/base/interrupt.h): then the work goes on by itself, so
/// what it uses has to be its own. What it throws is thrown here.
bool done_unless_interrupted(std::function<void()> work);

/// From here on the end of a process does not wait for work: `main` ends by `end_process`.
void abandon_work_at_end();
bool is_work_abandoned_at_end();

/// A thread that nobody waits for any more.
void note_abandoned_thread();
/// Ends the process where threads were abandoned, without its static objects, which they use; else returns the code.
int end_process(int code);

}  // namespace quern::codegen
