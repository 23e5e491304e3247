#pragma once
// Index expressions compiled for evaluation at many points: a tree of small nodes in which variables are
// slots. Compilation preserves the meaning: the same operations in the same order, element by element.

#include <memory>

#include "ir/interpret/frame.h"

namespace quern::interpreter {

class IndexProgram {
 public:
  /// `expr` is a Comprehension, or a scalar index expression outside one.
  explicit IndexProgram(ExprPtr expr);
  ~IndexProgram();

  Value run(Evaluator& evaluator, Frame& frame) const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern::interpreter
