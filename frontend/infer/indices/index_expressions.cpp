#include "frontend/infer/indices/index_expressions.h"

#include "frontend/index/elaborator.h"

namespace quern {

DraftPtr IndexExpressions::comprehension(SyntaxPtr s) {
  std::vector<IndexOperand> operands;
  for (SyntaxPtr operand : tensor_operands(s)) operands.push_back({operand, infer(operand)});
  IndexDraft* draft = drafts_.index(origin(s), unifier_.fresh_type(), operands);
  ComputedExtents extents;
  for (SyntaxPtr extent : binder_extents(s)) extents_.open(extent, extents);
  StaticEnv statics = names_.env.statics;
  relations_.relate(s, draft, "what it reads", [=, this] {
    if (!are_known(*draft)) return false;
    draft->expression = elaborate(s, *draft, statics, extents);
    assignments_.becomes(s, draft, draft->expression ? draft->expression->type : error_type());
    return true;
  });
  return extents_.bound(s, extents, draft);
}

bool IndexExpressions::are_known(const IndexDraft& draft) {
  for (const IndexOperand& operand : draft.operands) {
    Type type = resolve(operand.tensor->type);
    if (type->kind == TypeKind::Infer || (type->is_tensor() && resolve(type->dtype).is_infer())) return false;
  }
  return true;
}

// The index expression over its operands, whose types are known; null after a diagnostic.
ExprPtr IndexExpressions::elaborate(SyntaxPtr s, IndexDraft& draft, const StaticEnv& statics,
                                    const WrittenExtents& extents) {
  auto find = [&](SyntaxPtr at) -> ExprPtr {
    for (IndexOperand& operand : draft.operands) {
      if (!same_operand(operand.at, at)) continue;
      Type type = resolve(operand.tensor->type);
      if (type->is_error()) return nullptr;
      if (!operand.read) operand.read = drafts_.operand(operand.tensor, type);
      return operand.read;
    }
    return nullptr;
  };
  const uint32_t declaration = draft.origin.declaration;
  IndexElaborator elaborator(drafts_.arena(), scope_, declaration, diagnostics_, find);
  elaborator.extent = [&](SyntaxPtr at, const StaticEnv& env) {
    return names_.evaluator(&extents).evaluate(at, env);
  };
  ExprPtr made = elaborator.comprehension(s, statics, std::nullopt, std::nullopt);
  return made ? parts_.schedules.with_schedule(s, made, declaration, draft.operands) : nullptr;
}

}  // namespace quern
