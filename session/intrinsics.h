#pragma once
// Intrinsics that ops declare.

#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"

namespace quern {

/// What is wrong with an op's clause `lowering`: its own form, or that LLVM has no such intrinsic.
Diagnostics check_lowering(const Declaration& op, Scope& scope);

}  // namespace quern
