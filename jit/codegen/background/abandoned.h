#pragma once
// Work that may be abandoned. LLVM cannot be stopped in the middle of a function, and takes seconds for tens
// of thousands of instructions: an interrupted caller abandons this work to its own thread.

#include <functional>

namespace quern::codegen {

/// Runs `work` on another thread. False if Ctrl-C comes first (ir/base/interrupt.h): then the work continues
/// by itself, so it must own what it uses. Rethrows its exceptions.
bool done_unless_interrupted(std::function<void()> work);

/// From now on the end of the process does not wait for work: `main` ends by `end_process`.
void abandon_work_at_end();
bool is_work_abandoned_at_end();

/// Records an abandoned thread.
void note_abandoned_thread();
/// If threads were abandoned, ends the process without destroying static objects, which they use; otherwise
/// returns the code.
int end_process(int code);

}  // namespace quern::codegen
