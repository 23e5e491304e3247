// The walk of inference over what has a schedule of its own.

#include <fmt/format.h>

#include "frontend/index/schedule_clause.h"
#include "frontend/infer/inference.h"

namespace quern {

// The schedule waits beside the syntax until the call or the index expression is made.
ExprPtr Inference::scheduled(SyntaxPtr s, Type wanted) {
  SyntaxPtr value = s->child(0), schedule = s->child(1);
  while (value->is(SyntaxKind::Paren)) value = value->child(0);
  const Declaration* op = nullptr;
  if (value->is(SyntaxKind::Call) && value->child(0)->is(SyntaxKind::Name))
    op = scope_.op(value->child(0)->text);
  if (value->is(SyntaxKind::Binary) || value->is(SyntaxKind::Unary)) op = scope_.op(infix_name(value));
  if (value->is(SyntaxKind::Comprehension) || (op && op->syntax->is(SyntaxKind::Op)))
    schedules_.emplace(value, schedule);
  else if (op && op->syntax->is(SyntaxKind::ExternOp))
    report(DiagnosticKind::NoSchedule, schedule,
           fmt::format("`{}` is a kernel in C++, which has no schedule", op->name));
  else if (op)
    report(DiagnosticKind::NoSchedule, schedule,
           fmt::format("`{}` is made of several operators: a schedule stands at each of these", op->name));
  else if (!value->is(SyntaxKind::Error))
    report(DiagnosticKind::NoSchedule, schedule,
           "a schedule stands after a call of an operator or an index expression, and this is neither");
  return infer(s->child(0), wanted);
}

ExprPtr Inference::with_schedule(SyntaxPtr s, ExprPtr made, uint32_t declaration,
                                 const std::vector<std::pair<SyntaxPtr, ExprPtr>>& operands) {
  auto schedule = schedules_.find(s);
  if (schedule == schedules_.end()) return made;
  auto clause = sound_clause(schedule->second, declaration, schedule_names(s));
  if (!clause) return made;
  std::vector<ExprPtr> tensors;
  for (const std::string& name : tensors_of(clause->schedule))
    for (const auto& [syntax, draft] : operands)
      if (syntax->is(SyntaxKind::Local) && syntax->text == name) tensors.push_back(draft);
  auto& e = *as<ComprehensionExpr>(made);
  return drafts_.make<ComprehensionExpr>(Expr{e}, e.vars, e.extents, e.body,
                                         arena->make<ScheduleClause>(std::move(*clause)),
                                         drafts_.copy(tensors));
}

/// Which loops the operator has is not known here: its body may still be edited.
const ScheduleClause* Inference::schedule_of_call(const OpCallDraft& call) {
  auto schedule = schedules_.find(call.syntax);
  if (schedule == schedules_.end()) return nullptr;
  ScheduleNames names;
  names.any_loop = true;
  names.tensors = tensor_parameters(call.op->syntax);
  Diagnostics told_elsewhere;
  auto clause = clause_of(schedule->second, call.declaration, told_elsewhere);
  if (!clause) return nullptr;
  Diagnostics wrong = check_schedule_names(*clause, names);
  diagnostics.insert(diagnostics.end(), wrong.begin(), wrong.end());
  return wrong.empty() ? arena->make<ScheduleClause>(std::move(*clause)) : nullptr;
}

}  // namespace quern
