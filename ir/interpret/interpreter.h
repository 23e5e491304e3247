#pragma once
// The reference interpreter over the typed IR, index expressions included: slow, plain, the oracle of tests.
// It shares nothing with kernels and the virtual machine but the IR and the host tensors.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "ir/expr/expr.h"
#include "ir/interpret/evaluation.h"
#include "ir/value/value.h"

namespace quern {

/// Values of the variables that are free in an expression.
using Environment = std::unordered_map<const Variable*, Value>;

/// Looks on while an expression is interpreted.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A variable got its value: a parameter at `at`, the call; another one at the expression that is its
  /// value.
  virtual void bound(const Variable& variable, const Value& value, const Expr& at) = 0;
  /// An operator's call or an index expression gave a value; of one inside of others, before these. A text
  /// ends the evaluation as a failure there.
  virtual std::string computed(const Expr& node, std::span<const Value> operands, const Value& result) = 0;
  /// A quicker way to the value of a tensor's index expression, whose free variables have these values;
  /// nothing where there is none.
  virtual std::optional<Value> evaluate(ExprPtr expr, const Environment& values) = 0;
};

/// Evaluates `expr`. Strict, left to right; tail calls run in constant stack; a recursion too deep, a read
/// out of bounds, a shape that does not fit or a file that cannot be read is an EvaluationError.
EvaluationResult interpret(ExprPtr expr, const Environment& environment, FunctionSource& functions,
                           Host& host, Observer* observer = nullptr);

}  // namespace quern
