#pragma once
// Values and statements that kernels often have.

#include <vector>

#include "jit/loops/stmt.h"

namespace quern::loops {

ValuePtr constant(const Scalar& scalar);
ValuePtr index_value(Dim dim);
ValuePtr load_of(int buffer, DType dtype, Dim offset);
/// What a local that is no tile holds.
ValuePtr value_of(int local, DType dtype);
/// Of the dtype that the function gives of its first argument's.
ValuePtr apply(ScalarOp op, std::vector<ValuePtr> args);
/// The value itself where it has the dtype.
ValuePtr cast_to(ValuePtr value, DType dtype);
ValuePtr select(ValuePtr condition, ValuePtr then_arm, ValuePtr else_arm);
/// Whether the checks hold, as a value.
ValuePtr truth_of(const std::vector<BoundsCheck>& checks);

StmtPtr serial_loop(Dim var, Dim extent, Block body);
StmtPtr vector_loop(Dim var, Dim extent, int64_t width, Block body);
/// Each step is code of its own.
StmtPtr unrolled_loop(Dim var, int64_t extent, Block body);
/// Over places of a tile, or registers' worth of others: each vector of `width` lanes is code of its own. Of
/// an extent that is not known, `most` is the largest.
StmtPtr loop_in_lanes(Dim var, Dim extent, int64_t width, int64_t most, Block body);
StmtPtr only_if(std::vector<BoundsCheck> checks, Block body);
StmtPtr declare(int local, DType dtype, ValuePtr first);

}  // namespace quern::loops
