#pragma once

#include "passes/pass.h"

namespace quern {

/// A-normal form: every operand is an atom (passes/pass.h), every other value is bound in a block, blocks are
/// flat. Arms of `if` and bodies of functions are separate blocks. Tensors that an index expression reads are
/// variables.
ExprPtr to_anf(const PassContext& context, ExprPtr expr);

}  // namespace quern
