#pragma once
// Constructors of common kernel values and statements.

#include <vector>

#include "jit/loops/stmt.h"

namespace quern::loops {

ValuePtr constant(const Scalar& scalar);
ValuePtr index_value(Dim dim);
ValuePtr load_of(int buffer, DType dtype, Dim offset);
/// The value of a local that is not a tile.
ValuePtr value_of(int local, DType dtype);
/// Its dtype is the function's result dtype for the first argument's.
ValuePtr apply(ScalarOp op, std::vector<ValuePtr> args);
/// Whether it takes many instructions, as `exp` does; a power by a small number is a few products.
bool takes_long(const ApplyValue& function);
/// The value itself if it has the dtype.
ValuePtr cast_to(ValuePtr value, DType dtype);
ValuePtr select(ValuePtr condition, ValuePtr then_arm, ValuePtr else_arm);
/// Whether the checks hold, as a value.
ValuePtr truth_of(const std::vector<BoundsCheck>& checks);

StmtPtr serial_loop(Dim var, Dim extent, Block body);
StmtPtr vector_loop(Dim var, Dim extent, int64_t width, Block body);
/// Each step is separate code.
StmtPtr unrolled_loop(Dim var, int64_t extent, Block body);
/// Over places of a tile, or over register-sized pieces of other loops: each vector of `width` lanes is
/// separate code. `most` bounds an unknown extent.
StmtPtr loop_in_lanes(Dim var, Dim extent, int64_t width, int64_t most, Block body);
StmtPtr only_if(std::vector<BoundsCheck> checks, Block body);
StmtPtr declare(int local, DType dtype, ValuePtr first);

}  // namespace quern::loops
