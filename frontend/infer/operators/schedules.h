#pragma once
// The schedules at operator calls and index expressions, kept by syntax until the call or the index
// expression is made.

#include <span>
#include <unordered_map>

#include "frontend/infer/context/context.h"

namespace quern {

class Schedules : public Component {
 public:
  explicit Schedules(Context& context) : Component(context) {}

  /// Records a schedule, or reports one that is not allowed here; `op` is the operator that `value` calls, or
  /// null.
  void state(SyntaxPtr value, SyntaxPtr schedule, const Declaration* op);
  /// The index expression with its schedule, if it has one; `operands` are the tensors it reads.
  ExprPtr with_schedule(SyntaxPtr s, ExprPtr made, uint32_t declaration, std::span<IndexOperand> operands);
  const ScheduleClause* of_call(const OperatorCallDraft& call);

 private:
  std::unordered_map<SyntaxPtr, SyntaxPtr> schedules_;
};

}  // namespace quern
