#pragma once
// Splits computations whose index variables are divided by constants into several without divisions.
//
// A transposed convolution with stride 2 has different taps at even and odd positions:
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

/// The computations, each over the elements of one residue class of the divided index variables; together
/// they compute every element once. The computation itself if no division would disappear, or there would be
/// too many classes. Reductions omit terms that are skipped at all elements of a class.
std::vector<Computation> residue_classes(const Computation& computation);

}  // namespace quern::loops
