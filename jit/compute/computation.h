#pragma once
// What a primitive function computes for one element, before loops are put around it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "jit/loops/kernel.h"
#include "jit/loops/walk.h"

namespace quern::loops {

/// A reduction of a body, before loops are put around it.
struct Reduction {
  ReduceKind kind;
  std::vector<Dim> vars, extents;
  ValuePtr value;
  /// What has to hold for a term to count at all. A term that is the padding of a read is left out where the
  /// padding is what the reduction starts from, and a sum's where it is a factor 0, whatever the others are.
  std::vector<BoundsCheck> checks{};
  DType accumulator{};
  int local = 0;
  int index_local = -1;  ///< ArgMax, ArgMin
  ValuePtr index_value;
  std::vector<Reduction> inner;  ///< reductions that `value` needs, inside this one's loops
  bool is_let = false;           ///< no reduction: the local is `value` itself, bound by a `let`
};

/// A running result over one of the result's index variables, whose loop it takes along.
struct RunningResult {
  ReduceKind kind;
  bool inclusive;  ///< the element at a position takes part in its result
  ValuePtr value;  ///< what the position adds, over the result's index variables
  DType accumulator{};
  int local = 0;
  std::vector<Reduction> inner;  ///< reductions that `value` needs
};

/// What a scatter does after every element has its first value.
struct Scatter {
  std::vector<Dim> vars, extents;
  Dim offset = nullptr;
  std::vector<ComputedOffset> computed;
  std::vector<BoundsCheck> checks;
  int trap = 0;
  std::optional<ScalarOp> op;
  ValuePtr value;
  std::vector<Reduction> reductions;  ///< that the indices and the value need
};

/// What a primitive computes for one element of its result.
struct Computation {
  std::vector<Buffer> buffers;     ///< the parameters in order, then the result
  std::vector<Dim> dims;           ///< run-time dims of the enclosing frame
  std::vector<Dim> vars, extents;  ///< of the result
  std::vector<Reduction> reductions;
  Dim running = nullptr;  ///< which of `vars` the running results follow
  std::vector<RunningResult> running_results;
  ValuePtr value;
  std::optional<Scatter> scatter;
  Dim store_offset;
  int takes_value = -1;  ///< the local that has the value, which is not stored: of a stage of rows
  int locals = 0;
  std::vector<std::string> traps;
};

/// Reads the computation off a primitive function whose body is a Comprehension over its parameters. A
/// computation is over single numbers: a tensor of vectors is a buffer with their lanes as its last axis, and
/// where the result is one its lanes are the last of `vars`.
Computation computation_of(const FnExpr& primitive);

/// What a stage of a primitive function makes, which the later ones read as a scratch buffer of theirs.
struct Stage {
  int buffer;  ///< in its own and all later computations
  Computation value;
};
struct StagedComputation {
  Computation result;
  std::vector<Stage> stages;
};
/// Of a primitive function whose body is a Comprehension, or a Block of them that read each other. All
/// computations have the same buffers: the parameters, what the computation makes, the stages. Locals and
/// traps are numbered through.
StagedComputation staged_computation_of(const FnExpr& primitive);

/// A primitive function whose stages share their rows (passes/row_group.h): all of their buffers are the
/// parameters, then the last one's result, in whose memory the rows of others are as long as they are needed.
struct RowComputation {
  std::vector<Dim> rows, extents;
  std::vector<Computation> stages;  ///< without loops over rows
  std::vector<Dim> dims;            ///< of all
  int locals = 0;
};
RowComputation rows_of(const FnExpr& primitive);

/// A computation without index variables that are always 0, and with two for one that is divided by a
/// constant.
Computation with_simple_loops(Computation computation);

// Walks over all values that a term or an element needs, as those over one (jit/loops/walk.h).
void for_each_value(const Reduction& reduction, const ValueVisitor& visit);
/// Of a computation without running results and scatter, as all of these.
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

/// Whether one of the checks is the same test.
bool contains(const std::vector<BoundsCheck>& checks, const BoundsCheck& check);
/// Whether the facts say so.
bool holds(const BoundsCheck& check, const Facts& facts);
/// The value without tests that are known to hold, and the other value where one is known to fail.
ValuePtr without_checks(const ValuePtr& value, const Facts& facts);

/// Which of the buffers is the result.
int output_of(const std::vector<Buffer>& buffers);

}  // namespace quern::loops
