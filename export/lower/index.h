#pragma once
// An index expression as nodes: each part of it is a tensor with an axis for each index variable, of extent 1 where the part
// does not depend on it, so that ONNX's broadcasting pairs them.

#include "export/lower/lowering.h"

namespace quern::onnx {

/// Throws a Refusal where a part has no counterpart (scatters, running results, extents that depend on indices).
Name lower_index(Lowering& lowering, const ComprehensionExpr& elements);

}  // namespace quern::onnx
