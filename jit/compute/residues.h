#pragma once
// Computations whose index variables are divided by constants, as several without divisions.
//
// A transposed convolution with stride 2 has other taps at even positions than at odd ones:
//
//     out[x] = sum[s < 2] data[(x + 1) / 2 - s else 0] * weight[2*s + (x + 1) % 2 else 0]
//
// is, for a weight of 3 taps,
//
//     out[2*x]     = sum[s < 1] data[x - s else 0] * weight[2*s + 1]
//     out[2*x + 1] = sum[s < 2] data[x + 1 - s else 0] * weight[2*s]

#include <vector>

#include "jit/compute/computation.h"

namespace quern::loops {

/// The computations, each over the elements of one residue class of the index variables that are divided;
/// together they make every element once. The computation itself where no division would go, or too many
/// classes would come. Reductions run over no terms that are left out at all elements of a class.
std::vector<Computation> residue_classes(const Computation& computation);

}  // namespace quern::loops
