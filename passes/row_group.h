#pragma once
// Index expressions that are done together, a row at a time: softmax, norms.

#include <optional>
#include <span>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// One of a group: what its variable is bound to. The last one, whose value leaves the group, has none.
struct RowStage {
  const Variable* variable;
  const ComprehensionExpr* value;
};

/// How many leading index variables the stages share, so that for each setting of them (a row) the stages can
/// be done one after another: each is read by later stages at the same row only, and is one number a row, or
/// like the last stage's result and over by the time that another one takes its place. The most that there
/// can be; 0 for none.
size_t shared_rows(std::span<const RowStage> stages);
/// Whether they share this many.
bool share_rows(std::span<const RowStage> stages, size_t rows);

/// The stages of a primitive function whose body is a block.
std::vector<RowStage> stages_of(const BlockExpr& body);

/// Whether there is one number of it for each row.
bool is_one_a_row(const ComprehensionExpr& stage, size_t rows);

}  // namespace quern
