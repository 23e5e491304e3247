#pragma once
// Convolutions with windows of 3x3 by Winograd's minimal filtering (Lavin and Gray, "Fast Algorithms for
// Convolutional Neural Networks", 2016): Y = A^T [ (G g G^T) * (B^T d B) ] A, where `*` sums over channels.

#include <optional>

#include "jit/compute/computation.h"
#include "jit/loops/lowered.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

/// The kernel and the form of the weights that it takes; nothing if the computation is not such a
/// convolution: float32, stride and dilation 1, channels last in data and result, extents known, one group.
///
/// A result differs from the exact one by at most 2^-20 (tiles of 2) or 2^-17 (tiles of 4) times the largest sum of
/// |data * weight| over a window and its channels.
std::optional<Lowered> scheduled_winograd(const Computation& computation, const MachineModel& machine);

}  // namespace quern::loops
