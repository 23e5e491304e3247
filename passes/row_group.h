#pragma once
// Index expressions that are computed together, row by row: softmax, norms.

#include <optional>
#include <span>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// A member of a group and its variable. The last one, whose value leaves the group, has no variable.
struct RowStage {
  const Variable* variable;
  const ComprehensionExpr* value;
};

/// How many leading index variables the stages share, so that for each setting of them (a row) the stages can
/// run one after another: later stages read each one only at the same row, and it is one number per row, or
/// has the shape of the last stage's result and is dead before another stage reuses its memory. The maximum
/// possible; 0 for none.
size_t shared_rows(std::span<const RowStage> stages);
/// Whether they share that many.
bool share_rows(std::span<const RowStage> stages, size_t rows);

/// The stages of a primitive function whose body is a block.
std::vector<RowStage> stages_of(const BlockExpr& body);

/// Whether it is one number per row.
bool is_one_a_row(const ComprehensionExpr& stage, size_t rows);

}  // namespace quern
