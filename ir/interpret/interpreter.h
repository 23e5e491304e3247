#pragma once
// The reference interpreter over the typed IR, index expressions included: slow, plain, the oracle of tests.
// It shares nothing with kernels and the virtual machine but the IR and the host tensors.

#include <functional>
#include <span>
#include <unordered_map>

#include "ir/expr/expr.h"
#include "ir/interpret/evaluation.h"
#include "ir/value/value.h"

namespace quern {

/// Values of the variables that are free in an expression.
using Environment = std::unordered_map<const Variable*, Value>;

/// Evaluates `expr`. Strict, left to right; tail calls run in constant stack; a recursion too deep, a read
/// out of bounds, a shape that does not fit or a file that cannot be read is an EvaluationError.
EvaluationResult interpret(ExprPtr expr, const Environment& environment, FunctionSource& functions,
                           Host& host);

}  // namespace quern
