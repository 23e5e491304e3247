#pragma once
// Which results of kernels share the block of memory of their call.

#include <memory>
#include <vector>

#include "jit/vm/bytecode.h"

namespace quern {

/// Gives each function its storage: the tensors that its kernels make and that are gone before it calls another function
/// or returns, with their lifetimes. Nothing that outlives the call is among them, and nothing that a callee could keep. In
/// the words of Roesch (2020), chapter 6: one `alloc_storage` for a call, an `alloc_tensor` in it for each kernel, and
/// `kill` at its last use.
void plan_storage(Program& program);

/// compile_program, with its storage planned.
std::shared_ptr<const Program> planned_program(ExprPtr body, const std::vector<const Variable*>& inputs,
                                               std::shared_ptr<const Arena> owner);

}  // namespace quern
