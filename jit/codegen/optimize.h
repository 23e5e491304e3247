#pragma once
// The few passes worth running within a millisecond.

#include <llvm/IR/Module.h>

namespace quern::codegen {

/// Verifies the module (an invalid module is a bug here) and cleans it up: promotes locals to registers,
/// eliminates common subexpressions, hoists loop-invariant code.
void optimize(llvm::Module& module);

}  // namespace quern::codegen
