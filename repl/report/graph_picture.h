#pragma once
// A graph of kernels as a picture.

#include <string>

#include "repl/report/kernel_graph.h"

namespace quern {

/// An SVG: layers from the inputs at the top to the result at the bottom (Sugiyama et al. 1981: layers by
/// longest paths, the order in a layer by barycentres, long edges through the layers between).
std::string to_svg(const KernelGraph& graph);

}  // namespace quern
