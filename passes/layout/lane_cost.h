#pragma once
// What the order of axes in memory costs a kernel: how well its best loop runs in vector lanes.

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// The axes of a tensor from the outermost in memory to the innermost, whose elements are neighbours.
using AxisOrder = std::vector<size_t>;
/// Orders of tensors whose axes are not stored in the order of their shape.
using AxisOrders = std::unordered_map<const Variable*, AxisOrder>;
/// Tensors that come from outside, such as weights: what is prepared of them serves every call.
using Given = std::unordered_set<const Variable*>;

/// The last axis with more than one element: it is the innermost one in memory. 0 for a single element.
size_t last_axis(std::span<const Dim> extents);
/// The innermost axis of a tensor.
size_t innermost_axis(const AxisOrders& orders, const Variable* tensor);

/// What it takes to copy a tensor of this type into another order of axes, in operations of a vector.
double copy_cycles(Type tensor);

/// An index expression as accesses of memory.
class KernelAccesses {
 public:
  struct Loop {
    Dim var;
    double extent;
    bool reduced;
    bool known = true;  ///< otherwise the extent is a guess
  };

  /// How an access moves with a loop.
  struct Way {
    bool moves = false;
    std::optional<size_t> by_one;  ///< the only axis along which it moves, if by one element a step
    bool masked = false;           ///< its padding differs from step to step
  };

  /// One access: a read, or the store of the result.
  struct Access {
    const Variable* tensor;    ///< null for what has no order of its own
    std::vector<Dim> indices;  ///< null where the position is computed
    std::vector<Dim> checked;  ///< those of the indices that may be out of bounds
    double times;              ///< how often it happens
    double elements;           ///< of the tensor
    size_t innermost;          ///< axis, where the order is that of the shape
    bool factor = false;       ///< of the products of a register tile
    std::vector<Way> ways{};   ///< by loop
  };

  /// `result` is null for a result that keeps its order.
  KernelAccesses(const ComprehensionExpr& kernel, const Variable* result);

  const std::vector<Access>& accesses() const { return accesses_; }
  const std::vector<Loop>& loops() const { return loops_; }
  const Access& store() const { return accesses_.back(); }

  /// Estimated time, in operations of a vector. A contraction is a register tile whose factors are packed where
  /// they are not contiguous along the lanes, at no cost for `given` tensors (packed once). Everything else loads and stores at each step of its loops.
  double cycles(const AxisOrders& orders, const Given& given) const;

 private:
  void collect(ExprPtr expr, double times);
  void enter(std::span<const Dim> vars, std::span<const Dim> extents, double& times);
  /// Whether two of the factors have rows and columns: index variables of the result that the other lacks.
  bool is_tile(std::span<const Access> factors) const;
  /// With this loop in lanes.
  double along(size_t lane, const AxisOrders& orders, const Given& given) const;
  /// How many elements of a factor are read again, at other places of a window that moves over it.
  double repeated(const Access& access) const;
  double of_factor(const Access& access, size_t lane, const AxisOrders& orders, const Given& given) const;
  /// Per vector of the kernel's steps.
  double of_stream(const Access& access, size_t lane, const AxisOrders& orders) const;

  std::vector<Access> accesses_;  ///< the store is the last one
  std::vector<Loop> loops_;
  double most_times_ = 0;     ///< that the innermost loop runs
  bool contraction_ = false;  ///< this and copies are transposed in squares, where they are strided
  bool is_copy_ = false;
};

}  // namespace quern
