#pragma once
// The computation of one element of a primitive function, before loops are added.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "jit/loops/kernel.h"
#include "jit/loops/walk.h"

namespace quern::loops {

/// A reduction in a body, before loops are added.
struct Reduction {
  ReduceKind kind;
  std::vector<Dim> vars, extents;
  ValuePtr value;
  /// Conditions for a term to count. A term that is the padding of a read is skipped if the padding is the
  /// reduction's initial value, and in a sum if it is a zero factor, whatever the other factors.
  std::vector<BoundsCheck> checks{};
  DType accumulator{};
  int local = 0;
  int index_local = -1;  ///< ArgMax, ArgMin
  ValuePtr index_value;
  std::vector<Reduction> inner;  ///< reductions that `value` needs, inside this one's loops
  bool is_let = false;           ///< not a reduction: the local is `value` itself, bound by a `let`
};

/// A running result over one of the result's index variables, computed within its loop.
struct RunningResult {
  ReduceKind kind;
  bool inclusive;  ///< the result at a position includes its element
  ValuePtr value;  ///< the position's contribution, over the result's index variables
  DType accumulator{};
  int local = 0;
  std::vector<Reduction> inner;  ///< reductions that `value` needs
};

/// The updates of a scatter, after every element has its initial value.
struct Scatter {
  std::vector<Dim> vars, extents;
  Dim offset = nullptr;
  std::vector<ComputedOffset> computed;
  std::vector<BoundsCheck> checks;
  int trap = 0;
  std::optional<ScalarOp> op;
  ValuePtr value;
  std::vector<Reduction> reductions;  ///< needed by the indices and the value
};

/// The computation of one element of a primitive's result.
struct Computation {
  std::vector<Buffer> buffers;     ///< the parameters in order, then the result
  std::vector<Dim> dims;           ///< run-time dims of the enclosing frame
  std::vector<Dim> vars, extents;  ///< of the result
  std::vector<Reduction> reductions;
  Dim running = nullptr;  ///< the one of `vars` that running results follow
  std::vector<RunningResult> running_results;
  ValuePtr value;
  std::optional<Scatter> scatter;
  Dim store_offset;
  int takes_value = -1;  ///< for a stage of rows: the local that receives the value instead of a store
  int locals = 0;
  std::vector<std::string> traps;
};

/// Builds the computation of a primitive function whose body is a Comprehension over its parameters. A
/// computation is over single numbers: a tensor of vectors is a buffer with the lanes as its last axis, and
/// if the result is one, its lanes are the last of `vars`.
Computation computation_of(const FnExpr& primitive);

/// A stage of a primitive function, which later ones read from a scratch buffer.
struct Stage {
  int buffer;  ///< in its own and all later computations
  Computation value;
};
struct StagedComputation {
  Computation result;
  std::vector<Stage> stages;
};
/// For a primitive function whose body is a Comprehension, or a Block of them that read each other. All
/// computations have the same buffers: the parameters, the result, the stages. Locals and traps are numbered
/// consecutively.
StagedComputation staged_computation_of(const FnExpr& primitive);

/// A primitive function whose stages share their rows (passes/row_group.h): their buffers are the parameters,
/// then the last one's result, whose memory holds the rows of the others while they are live.
struct RowComputation {
  std::vector<Dim> rows, extents;
  std::vector<Computation> stages;  ///< without loops over rows
  std::vector<Dim> dims;            ///< of all
  int locals = 0;
};
RowComputation rows_of(const FnExpr& primitive);

/// The computation without index variables that are always 0, and with two variables for one that is divided
/// by a constant.
Computation with_simple_loops(Computation computation);

/// The computation with each value that a `let` binds in the place of its uses, if it has one reduction and lets that it
/// does not need: an element is then an expression of the reduction, as the rules for tiles want it. Nothing otherwise, and
/// where that element would be large.
std::optional<Computation> with_lets_in_value(const Computation& computation);

// Walks over all values that a term or an element needs, like those over one value (jit/loops/walk.h).
void for_each_value(const Reduction& reduction, const ValueVisitor& visit);
/// Like all of these, for a computation without running results and scatter.
void for_each_value(const Computation& computation, const ValueVisitor& visit);
void map_values(Reduction& reduction, const ValueFunction& f);
void map_values(Computation& computation, const ValueFunction& f);
void map_dims(Reduction& reduction, const DimFunction& f);
void map_dims(Computation& computation, const DimFunction& f);
void substitute(Reduction& reduction, const DimMap& map);
void for_each_dim(const Reduction& reduction, const DimVisitor& visit);
void for_each_dim(const Computation& computation, const DimVisitor& visit);
/// Calls `visit` with each floordiv and floormod inside.
void for_each_quotient(Dim d, const std::function<void(Dim)>& visit);

/// Whether the checks include this one.
bool contains(const std::vector<BoundsCheck>& checks, const BoundsCheck& check);
/// Whether the facts prove the check.
bool holds(const BoundsCheck& check, const Facts& facts);
/// The value without checks that are known to hold, and with `otherwise` in place of reads whose check is
/// known to fail.
ValuePtr without_checks(const ValuePtr& value, const Facts& facts);

/// The index of the result buffer.
int output_of(const std::vector<Buffer>& buffers);

}  // namespace quern::loops
