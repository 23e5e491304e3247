// Integers that the program computes, written where their extents stand.

#include <fmt/format.h>

#include "frontend/print/printer_impl.h"
#include "ir/expr/computed_extent.h"

namespace quern::printer_detail {

/// `%k`, `%net.size`, `%t.0`, `%sizes[0]`: an operand of an index expression.
std::optional<std::string> Printer::operand_text(ExprPtr expr) {
  if (auto* check = as<CheckDimsExpr>(expr); check && check->value) return operand_text(check->value);
  if (auto* var = as<VarExpr>(expr)) {
    auto pattern = opened_.find(var->variable);
    return "%" + names_.of(pattern == opened_.end() ? var->variable : pattern->second);
  }
  if (auto* element = as<ComprehensionExpr>(expr)) {
    auto* read = element->vars.empty() ? as<ReadExpr>(element->body) : nullptr;
    auto tensor = read && !read->otherwise ? operand_text(read->tensor) : std::nullopt;
    std::vector<std::string> at;
    for (ExprPtr index : tensor ? read->indices : std::span<const ExprPtr>())
      if (auto* known = as<DimValueExpr>(index)) at.push_back(dim_text(known->dim));
    if (!tensor || at.size() != read->indices.size()) return std::nullopt;
    return fmt::format("{}[{}]", *tensor, fmt::join(at, ", "));
  }
  auto* field = as<FieldExpr>(expr);
  auto of = field ? operand_text(field->tuple) : std::nullopt;
  if (!of) return std::nullopt;
  return fmt::format("{}.{}", *of,
                     field->name.empty() ? std::to_string(field->index) : std::string(field->name));
}

// The integer stands where the extent does: `zeros((%k,))`.
bool Printer::spells_extent(const Binding& binding) {
  const Dim extent = computed_extent(binding);
  if (!extent) return false;
  const auto text = operand_text(as<ExternExpr>(as<CheckDimsExpr>(binding.value)->value)->args[0]);
  if (text) names_.spell(extent, *text);
  return text.has_value();
}

void Printer::mark_computed(const BlockExpr& block) {
  for (const Binding& binding : block.bindings)
    if (const Dim extent = computed_extent(binding)) names_.mark_computed(extent);
}

}  // namespace quern::printer_detail
