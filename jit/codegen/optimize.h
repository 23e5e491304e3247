#pragma once
// The few passes that pay for themselves within a millisecond.

#include <llvm/IR/Module.h>

namespace quern::codegen {

/// Verifies the module (a module that does not hold together is a bug here) and tidies it: locals to
/// registers, equal expressions once, loop-invariant code out of loops.
void optimize(llvm::Module& module);

}  // namespace quern::codegen
