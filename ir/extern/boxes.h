#pragma once
// Kernels over boxes in images: candidates that count, and those of them that overlap no better one.

#include "ir/extern/kernels.h"

namespace quern {

/// (n, m, k) boxes to (how many of each batch count, these first, their positions). A box counts when its
/// score is above `score_threshold` and, where `id_index` is not negative, its class is not negative.
Result<Value> get_valid_counts(std::span<const Value> args, const ExternAttributes& attributes);

/// Greedy suppression: by falling score, a box drops every later one that it overlaps by more than
/// `iou_threshold` (intersection over union), of its own class only unless `force_suppress`.
Result<Value> non_max_suppression(std::span<const Value> args, const ExternAttributes& attributes);

}  // namespace quern
