#pragma once
// Products summed by an intrinsic.

#include <optional>

#include "jit/compute/computation.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// The factors of an intrinsic: its loads `a` and `b`.
struct DotFactors {
  LoadPtr a, b;
};
/// The factors of a product of two loads, each cast to the accumulator's dtype if necessary; nothing if the
/// intrinsic takes other ones.
std::optional<DotFactors> dot_factors(const ValuePtr& value, const DotIntrinsic& intrinsic);
/// The same for matrices; the first factor has the rows and the second the columns.
std::optional<DotFactors> matrix_factors(const ValuePtr& value, const DotIntrinsic& intrinsic,
                                         const std::vector<Dim>& rows, const std::vector<Dim>& columns);

/// A contraction with the signedness of its right factor changed; its loads are the two reads of the
/// reduction. The right one's top bits are flipped: b' = b + 128 if it was signed, b - 128 if unsigned. The
/// excess in the sums, 128 times those of the left factor, is subtracted from the results, exactly modulo
/// 2^32; it is a form of the left tensor. If a window moves over that tensor, it is built from another form,
/// the sums along `grouped`, since a place is in many windows.
struct TurnedSign {
  Computation computation;
  std::vector<PackedBuffer> forms;  ///< the last of the computation's buffers
};
TurnedSign with_sign_turned(Computation computation, const LoadValue& left, const LoadValue& right,
                            Dim grouped);

}  // namespace quern::loops
