#pragma once
// The reference interpreter over the typed IR, including index expressions: slow, simple, the oracle of
// tests. It shares only the IR and host tensors with kernels and the virtual machine.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "ir/expr/expr.h"
#include "ir/interpret/evaluation.h"
#include "ir/value/value.h"

namespace quern {

/// Values of the free variables of an expression.
using Environment = std::unordered_map<const Variable*, Value>;

/// Observes the interpretation of an expression.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A variable was bound: for a parameter `at` is the call, otherwise the bound expression.
  virtual void bound(const Variable& variable, const Value& value, const Expr& at) = 0;
  /// An operator call or an index expression yielded a value; inner ones come before outer ones. A non-empty
  /// text stops the evaluation with that failure.
  virtual std::string computed(const Expr& node, std::span<const Value> operands, const Value& result) = 0;
  /// A faster evaluation of a tensor's index expression, whose free variables have these values; nothing if
  /// there is none.
  virtual std::optional<Value> evaluate(ExprPtr expr, const Environment& values) = 0;
};

/// Evaluates `expr`. Strict, left to right; tail calls run in constant stack; recursion too deep, a read out
/// of bounds, a shape mismatch or an unreadable file is an EvaluationError.
EvaluationResult interpret(ExprPtr expr, const Environment& environment, FunctionSource& functions,
                           Host& host, Observer* observer = nullptr);

}  // namespace quern
