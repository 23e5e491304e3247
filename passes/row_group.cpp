#include "passes/row_group.h"

#include <algorithm>

namespace quern {

namespace {

const Variable* variable_of(const ReadExpr& read) {
  auto* var = as<VarExpr>(read.tensor);
  return var ? var->variable : nullptr;
}

void for_each_read(ExprPtr expr, const std::function<void(const ReadExpr&)>& visit) {
  if (auto* read = as<ReadExpr>(expr)) visit(*read);
  for_each_child(expr, [&](ExprPtr child) { for_each_read(child, visit); });
}

/// Whether the first `count` indices are the reader's first index variables.
bool is_at_own(const ReadExpr& read, const ComprehensionExpr& reader, size_t count) {
  if (read.indices.size() < count || reader.vars.size() < count) return false;
  for (size_t k = 0; k < count; ++k) {
    auto* index = as<DimValueExpr>(read.indices[k]);
    if (!index || read.checked[k] || index->dim != reader.vars[k]) return false;
  }
  return true;
}

bool is_like(const ComprehensionExpr& stage, const ComprehensionExpr& last) {
  return stage.type->dtype == last.type->dtype && std::ranges::equal(stage.extents, last.extents);
}

}  // namespace

bool is_one_a_row(const ComprehensionExpr& stage, size_t rows) {
  return std::all_of(stage.extents.begin() + static_cast<ptrdiff_t>(rows), stage.extents.end(),
                     [](Dim extent) { return is_const(extent, 1); });
}

bool share_rows(std::span<const RowStage> stages, size_t rows) {
  const ComprehensionExpr& last = *stages.back().value;
  const Variable* in_place = nullptr;  // the stage whose row the result's memory currently holds
  for (const RowStage& stage : stages) {
    const ComprehensionExpr& value = *stage.value;
    if (value.vars.size() < rows ||
        !std::equal(value.extents.begin(), value.extents.begin() + static_cast<ptrdiff_t>(rows),
                    last.extents.begin()))
      return false;
    const bool fills_row = !is_one_a_row(value, rows) || !stage.variable;
    if (fills_row && !is_like(value, last)) return false;
    bool fits = true;
    for_each_read(value.body, [&](const ReadExpr& read) {
      const auto made = std::ranges::find(stages, variable_of(read), &RowStage::variable);
      if (made == stages.end() || !made->variable) return;
      if (is_one_a_row(*made->value, rows)) {
        fits &= is_at_own(read, value, rows) && !read.otherwise;
      } else {
        fits &= made->variable == in_place && is_at_own(read, value, fills_row ? value.vars.size() : rows);
      }
    });
    if (!fits) return false;
    if (fills_row) in_place = stage.variable;
  }
  return true;
}

size_t shared_rows(std::span<const RowStage> stages) {
  for (size_t rows = stages.back().value->vars.size(); rows > 0; --rows)
    if (share_rows(stages, rows)) return rows;
  return 0;
}

std::vector<RowStage> stages_of(const BlockExpr& body) {
  std::vector<RowStage> stages;
  for (const Binding& binding : body.bindings)
    stages.push_back({binding.variable, as<ComprehensionExpr>(binding.value)});
  stages.push_back({nullptr, as<ComprehensionExpr>(body.result)});
  return stages;
}

}  // namespace quern
