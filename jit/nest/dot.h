#pragma once
// Products that an intrinsic adds up.

#include <optional>

#include "jit/compute/computation.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// What an intrinsic multiplies: the loads that it takes as `a` and `b`.
struct DotFactors {
  LoadPtr a, b;
};
/// The factors of a product of two loads, each cast to the accumulator's dtype where it has another; nothing
/// where the intrinsic takes other ones.
std::optional<DotFactors> dot_factors(const ValuePtr& value, const DotIntrinsic& intrinsic);
/// The same of matrices, of which the first has the rows and the second the columns.
std::optional<DotFactors> matrix_factors(const ValuePtr& value, const DotIntrinsic& intrinsic,
                                         const std::vector<Dim>& rows, const std::vector<Dim>& columns);

/// A contraction, one of whose factors is to get another sign: its loads are the two reads of the reduction.
/// The right one's highest bits are flipped: b' = b + 128 where it had a sign, and b - 128 where it had none.
/// What that adds to the sums, 128 times those of the left factor, is taken off the results, modulo 2^32 to
/// the bit; it is a form of the left tensor. Where a window moves over that, it is made of another form, the
/// sums along `grouped`, since a place is in many windows.
struct TurnedSign {
  Computation computation;
  std::vector<PackedBuffer> forms;  ///< the last of the computation's buffers
};
TurnedSign with_sign_turned(Computation computation, const LoadValue& left, const LoadValue& right,
                            Dim grouped);

}  // namespace quern::loops
