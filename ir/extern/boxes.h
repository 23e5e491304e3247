#pragma once
// Kernels over boxes in images: selecting valid candidates, and suppressing those that overlap a better one.

#include "ir/extern/kernels.h"

namespace quern {

/// (n, m, k) boxes to (number of valid boxes per batch, the boxes with valid ones first, their positions). A
/// box is valid if its score is above `score_threshold` and, if `id_index` is not negative, its class is not
/// negative.
Result<Value> get_valid_counts(std::span<Value> args, const ExternAttributes& attributes);

/// Greedy suppression: in order of descending score, a box drops every later one that it overlaps by more
/// than `iou_threshold` (intersection over union), only within its class unless `force_suppress`.
Result<Value> non_max_suppression(std::span<Value> args, const ExternAttributes& attributes);

/// ONNX's suppression in each batch and class: (n, k, 4) boxes and (n, classes, k) scores to the (batch, class,
/// box) that are kept, by descending score within a class, and their number. A box drops every later one of its
/// class that it overlaps by more than `iou_threshold`. With `output_format` "tensorflow" the (class, box), the
/// scores and the numbers of each batch.
Result<Value> all_class_non_max_suppression(std::span<Value> args, const ExternAttributes& attributes);

}  // namespace quern
