#pragma once
// Shared by the two halves of the reference interpreter: graphs (interpreter.cpp) and index expressions
// (index.cpp).

#include <memory>
#include <string>
#include <unordered_map>

#include "ir/expr/expr.h"
#include "ir/interpret/evaluation.h"
#include "ir/value/value.h"

namespace quern::interpreter {

/// Thrown where evaluation fails; `interpret` catches it and adds the calls.
struct Stop {
  EvaluationError error;
};
[[noreturn]] void fail(const Expr& at, std::string message, FailureKind kind = FailureKind::Evaluation);

/// One activation of a function or operator: the values of its variables and dims.
struct Frame {
  std::unordered_map<const Variable*, Value> values;
  std::unordered_map<Dim, int64_t> dims;
  std::shared_ptr<const Arena> arena;  ///< keeps the running code alive, for closures made here
};

/// Evaluates any expression in a frame.
class Evaluator {
 public:
  virtual Value evaluate(ExprPtr expr, Frame& frame) = 0;

 protected:
  ~Evaluator() = default;
};

/// A new tensor for the value of `at`; fails if memory cannot hold it.
TensorPtr make_tensor(const Expr& at, DType dtype, Shape shape);

}  // namespace quern::interpreter
