#pragma once
// Statements that every way of putting loops around a computation makes.

#include <functional>

#include "jit/compute/computation.h"

namespace quern::loops {

StmtPtr make(Stmt stmt);
ValuePtr make(Value value);
ValuePtr index_value(Dim dim);
ValuePtr apply(ScalarOp op, ValuePtr a, ValuePtr b);
/// Whether the checks hold, as a value.
ValuePtr truth_of(const std::vector<BoundsCheck>& checks);
ValuePtr constant(const Scalar& scalar);
/// What a local that is no tile holds.
ValuePtr value_of(int local, DType dtype);
StmtPtr serial_loop(Dim var, Dim extent, Block body);
/// Each step is code of its own.
StmtPtr unrolled_loop(Dim var, int64_t extent, Block body);
/// Over places of a tile, or registers' worth of others: each vector of `width` lanes is code of its own. Of
/// an extent that is not known, `most` is the largest.
StmtPtr loop_in_lanes(Dim var, Dim extent, int64_t width, int64_t most, Block body);
void declare(int local, DType dtype, ValuePtr first, Block& body);

/// A loop of a reduction around a body.
using ReductionLoop = std::function<StmtPtr(Dim var, Dim extent, Block body)>;

/// What stands before the loops of a reduction that is not a tile's: its locals with their first values, and
/// that an arg-reduction is not of an empty range.
void open_reduction(const Reduction& reduction, Block& body);
/// A reduction or `let`, and what is inside of it, with loops as the computation says them.
void add_reduction(const Reduction& reduction, const ReductionLoop& loop, Block& body);

/// What stands in Kernel::work.
Dim work_of(const Computation& computation);

}  // namespace quern::loops
