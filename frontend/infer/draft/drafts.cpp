#include "frontend/infer/draft/draft.h"

namespace quern {

const VarExpr* Drafts::operand(DraftPtr tensor, Type type) {
  return arena_.make<VarExpr>(Expr{ExprKind::Var, type, tensor->origin},
                              arena_.make<Variable>(std::string_view(), type, 0U, false));
}

IndexDraft* Drafts::index(Origin origin, Type type, const std::vector<IndexOperand>& operands,
                          ExprPtr expression) {
  auto own = arena_.make<std::vector<IndexOperand>>(operands);
  return make<IndexDraft>(origin, type, std::span<IndexOperand>(*own), expression);
}

DraftPtr Drafts::call(Origin origin, Type type, DraftPtr callee, DraftSpan args) {
  std::vector<DraftPtr> parts{callee};
  parts.insert(parts.end(), args.begin(), args.end());
  return form(origin, type, CallExpr{}, parts);
}

DraftPtr Drafts::tuple(Origin origin, DraftSpan fields) {
  std::vector<Type> types;
  types.reserve(fields.size());
  for (DraftPtr field : fields) types.push_back(field->type);
  return form(origin, tuple_type(types), TupleExpr{}, fields);
}

DraftPtr Drafts::block(Origin origin, std::span<const DraftBinding> bindings, DraftPtr result) {
  std::vector<Binding> without_values;
  std::vector<DraftPtr> parts;
  for (const auto& [variable, value] : bindings) {
    without_values.push_back({variable, nullptr});
    parts.push_back(value);
  }
  parts.push_back(result);
  return form(origin, result->type, BlockExpr{.bindings = arena_.copy(without_values)}, parts);
}

Variable* Drafts::variable(std::string_view name, Type type, bool graph) {
  return arena_.make<Variable>(arena_.copy(name), type, next_variable_id(), graph);
}

void Drafts::check(DraftPtr draft, const DimCondition& condition) {
  std::vector<DimCondition> checks(draft->checks.begin(), draft->checks.end());
  checks.push_back(condition);
  draft->checks = arena_.copy(checks);
}

}  // namespace quern
