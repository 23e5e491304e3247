#pragma once
// What the two halves of the reference interpreter share: graphs (interpreter.cpp) and index expressions
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

/// One activation of a function or operator: what its variables and dims are.
struct Frame {
  std::unordered_map<const Variable*, Value> values;
  std::unordered_map<Dim, int64_t> dims;
  std::shared_ptr<const Arena> arena;  ///< keeps the code that runs here, for the closures that it makes
};

/// Evaluates any expression in a frame.
class Evaluator {
 public:
  virtual Value evaluate(ExprPtr expr, Frame& frame) = 0;

 protected:
  ~Evaluator() = default;
};

/// A new tensor for the value of `at`; a size that memory cannot hold is a failure.
TensorPtr make_tensor(const Expr& at, DType dtype, Shape shape);

}  // namespace quern::interpreter
