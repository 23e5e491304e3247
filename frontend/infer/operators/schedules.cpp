#include "frontend/infer/operators/schedules.h"

#include <fmt/format.h>

#include "frontend/index/schedule_clause.h"

namespace quern {

void Schedules::state(SyntaxPtr value, SyntaxPtr schedule, const Declaration* op) {
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
}

ExprPtr Schedules::with_schedule(SyntaxPtr s, ExprPtr made, uint32_t declaration,
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
  scheduled.schedule = context_.arena->make<ScheduleClause>(std::move(*clause));
  scheduled.scheduled = drafts_.copy(tensors);
  return drafts_.arena().make<ComprehensionExpr>(std::move(scheduled));
}

/// The operator's loops are unknown here, since its body may still be edited.
const ScheduleClause* Schedules::of_call(const OperatorCallDraft& call) {
  auto schedule = schedules_.find(call.call.syntax);
  if (schedule == schedules_.end()) return nullptr;
  ScheduleNames names;
  names.any_loop = true;
  names.tensors = tensor_parameters(call.op->syntax);
  Diagnostics told_elsewhere;
  auto clause = clause_of(schedule->second, call.origin.declaration, told_elsewhere);
  if (!clause) return nullptr;
  Diagnostics wrong = check_schedule_names(*clause, names);
  diagnostics_.insert(diagnostics_.end(), wrong.begin(), wrong.end());
  return wrong.empty() ? context_.arena->make<ScheduleClause>(std::move(*clause)) : nullptr;
}

}  // namespace quern
