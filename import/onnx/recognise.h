#pragma once
// Layers that exporters write as their arithmetic.

#include "import/onnx/model.h"

namespace quern::onnx {

/// The graph with one node for each layer norm, GELU and SiLU that is written out in it: `LayerNormalization`, `Gelu`, and
/// `Silu`, which is not ONNX's. Values that anything else uses stay.
Graph with_layers(const Graph& graph);

}  // namespace quern::onnx
