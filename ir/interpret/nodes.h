#pragma once
// The nodes of a compiled index expression, and the machine they run on. A node yields the bits of its
// element, or of the machine's current lane of a vector; its dtype is fixed at construction.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/interpret/frame.h"

namespace quern::interpreter {

/// A hoisted subexpression, without index variables, evaluated once per run: a tensor operand before the
/// first point, anything else on first use.
struct Hoisted {
  bool ready = false;
  Value value;
};

/// The state of one run of a program.
struct Machine {
  Evaluator& evaluator;
  Frame& frame;
  std::vector<int64_t> slots;    ///< dims, index variables and their extents
  std::vector<uint64_t> locals;  ///< let-bound elements
  std::vector<Hoisted> hoisted;
  size_t lane = 0;      ///< the lane of the result being computed
  bool absent = false;  ///< the current term is skipped in its sum
};

/// Computes an element at each point.
class Node {
 public:
  virtual ~Node() = default;
  virtual uint64_t run(Machine& machine) const = 0;
};
using NodePtr = std::unique_ptr<Node>;

/// A compiled dim, whose variables are slots.
struct DimCode {
  DimKind kind = DimKind::Const;
  int64_t value = 0;  ///< Const: the constant; Product: the coefficient
  size_t slot = 0;    ///< Var
  std::vector<DimCode> args = {};
  Dim dim = nullptr;  ///< for messages
};
/// The value of `code`; overflow and division by zero fail at `at`.
int64_t run(const DimCode& code, const int64_t* slots, const Expr& at);
/// The same for an extent, which must not be negative.
int64_t run_extent(const DimCode& code, const int64_t* slots, const Expr& at);

/// Fails because a range has more points than fit 64 bits.
[[noreturn]] void fail_too_long(const Expr& at);

/// A range of iteration: an index variable from 0 up to an extent.
struct Axis {
  size_t position;  ///< slot of the variable
  size_t extent;    ///< slot of the extent, set on entry
  DimCode code;
};

/// Calls `body` at each point of the axes in row-major order, with the positions in their slots.
template <class F>
void for_each_point(std::span<const Axis> axes, int64_t* slots, const Expr& at, const F& body) {
  bool empty = false, too_long = false;
  int64_t points = 1;
  for (const Axis& axis : axes) {
    slots[axis.extent] = run_extent(axis.code, slots, at);
    empty |= slots[axis.extent] == 0;
    too_long |= __builtin_mul_overflow(points, slots[axis.extent], &points);
    slots[axis.position] = 0;
  }
  if (empty) return;
  if (too_long) fail_too_long(at);
  while (true) {
    if (is_interrupted()) fail(at, kInterrupted);
    body();
    size_t k = axes.size();
    while (k > 0 && ++slots[axes[k - 1].position] == slots[axes[k - 1].extent]) slots[axes[--k].position] = 0;
    if (k == 0) return;
  }
}

/// The machine state that a graph-level expression needs when evaluated at a point.
struct Escape {
  struct Local {
    const Variable* variable;
    size_t slot;
  };
  ExprPtr expr;
  std::vector<std::pair<Dim, size_t>> dims = {};
  std::vector<Local> locals = {};

  Value run(Machine& machine) const;
};

/// The tensor of a Read: hoisted, or evaluated at each point.
struct TensorSource {
  const Expr* expr;
  size_t hoisted;
  std::unique_ptr<Escape> escape;  ///< null when hoisted
};

struct IndexCode {
  DimCode dim;
  NodePtr node;  ///< a computed index; null for a dim
};

NodePtr constant_node(std::shared_ptr<const HostTensor> element);
NodePtr local_node(size_t slot);
NodePtr dim_node(const Expr& at, DimCode code);
NodePtr hoisted_node(ExprPtr expr, size_t slot);
NodePtr escape_node(Escape escape);
/// 0, for an out-of-bounds read that is a factor of a term: the term is skipped.
NodePtr absent_node();
/// The dtypes of these two and of `reduce_node` are lane dtypes.
NodePtr scalar_node(ScalarOp op, DType operand, std::vector<NodePtr> args);
/// On indices: fails if the divisor is 0.
NodePtr index_division_node(const Expr& at, ScalarOp op, NodePtr dividend, NodePtr divisor);
NodePtr cast_node(DType from, DType to, NodePtr arg);
NodePtr if_node(NodePtr condition, NodePtr then_arm, NodePtr else_arm);
NodePtr read_node(const ReadExpr& read, TensorSource tensor, std::vector<IndexCode> indices,
                  NodePtr otherwise);
/// The reduction of a body whose elements are of dtype `element`.
NodePtr reduce_node(const Expr& at, ReduceKind kind, DType element, std::vector<Axis> axes, NodePtr body);

/// A binding inside an index expression: an element goes to a local, anything else to the frame.
struct Store {
  const Variable* variable;  ///< null if evaluated for its effects
  size_t slot = 0;
  NodePtr node = nullptr;                    ///< of an element
  std::unique_ptr<Escape> escape = nullptr;  ///< of anything else
};
NodePtr block_node(std::vector<Store> stores, NodePtr result);

/// The value of a hoisted subexpression.
const Value& hoisted_value(Machine& machine, size_t slot, ExprPtr expr);

}  // namespace quern::interpreter
