#pragma once
// Reverse mode for programs that are more than index expressions: recursion, closures, data types, `match`,
// references (Roesch 2020, section 4.1, with whole segments of tensor code in place of single operators).

#include <variant>
#include <vector>

#include "passes/gradient/reverse.h"

namespace quern {

/// As `vector_jacobian`, of any function whose result is tensors and tuples of them, with gradients in the
/// structure of the parameters. Every function that it calls is a variable inside of it. Tensors carry
/// references to their cotangents (passes/gradient/lifting/lifted.h). Code between calls, matches and uses of
/// references is one segment: it puts a closure on the tape that passes what the segment's results have
/// received on to its operands, by its vector-Jacobian product. The tape holds what segments keep, and runs in
/// constant stack.
std::variant<VectorJacobian, std::vector<Underivable>> tape_vector_jacobian(const PassContext& context,
                                                                            const FnExpr& function);

}  // namespace quern
