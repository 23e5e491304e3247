// The walk of inference over what has a schedule of its own.

#include <fmt/format.h>

#include "frontend/index/schedule_clause.h"
#include "frontend/infer/inference.h"

namespace quern {

// The schedule waits beside the syntax until the call or the index expression is made.
DraftPtr Inference::scheduled(SyntaxPtr s, Type wanted) {
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
                                 std::span<IndexOperand> operands) {
  auto schedule = schedules_.find(s);
  if (schedule == schedules_.end()) return made;
  auto clause = sound_clause(schedule->second, declaration, schedule_names(s));
  if (!clause) return made;
  std::vector<ExprPtr> tensors;
  for (const std::string& name : tensors_of(clause->schedule))
    for (IndexOperand& operand : operands) {
      if (!operand.at->is(SyntaxKind::Local) || operand.at->text != name) continue;
      if (!operand.read) operand.read = drafts_.operand(operand.tensor, resolve(operand.tensor->type));
      tensors.push_back(operand.read);
    }
  ComprehensionExpr scheduled = *as<ComprehensionExpr>(made);
  scheduled.schedule = arena->make<ScheduleClause>(std::move(*clause));
  scheduled.scheduled = drafts_.copy(tensors);
  return drafts_.arena().make<ComprehensionExpr>(std::move(scheduled));
}

/// Which loops the operator has is not known here: its body may still be edited.
const ScheduleClause* Inference::schedule_of_call(const OperatorCallDraft& call) {
  auto schedule = schedules_.find(call.call.syntax);
  if (schedule == schedules_.end()) return nullptr;
  ScheduleNames names;
  names.any_loop = true;
  names.tensors = tensor_parameters(call.op->syntax);
  Diagnostics told_elsewhere;
  auto clause = clause_of(schedule->second, call.origin.declaration, told_elsewhere);
  if (!clause) return nullptr;
  Diagnostics wrong = check_schedule_names(*clause, names);
  diagnostics.insert(diagnostics.end(), wrong.begin(), wrong.end());
  return wrong.empty() ? arena->make<ScheduleClause>(std::move(*clause)) : nullptr;
}

}  // namespace quern
