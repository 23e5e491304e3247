#pragma once
// The second walk: turns drafts whose types are known into final nodes, in the arena of the result.

#include <span>
#include <vector>

#include "frontend/infer/general/copies.h"
#include "frontend/infer/operators/operators.h"
#include "frontend/infer/operators/schedules.h"

namespace quern {

class Finisher : public Component {
 public:
  Finisher(Context& context, Operators& operators, Schedules& schedules, const Copies& copies)
      : Component(context), operators_(operators), schedules_(schedules), copies_(copies) {}

  /// The final node, with the draft's checks. Null for null.
  ExprPtr finish(DraftPtr draft);
  std::vector<ExprPtr> finish(DraftSpan drafts);
  const Variable* finish(const Variable* variable);
  Type finish(Type type) { return context_.final_type(type); }
  Dim finish(Dim dim);
  /// The binding of a block: for a function that is specialised per rank and dtype, one per copy. Returns
  /// whether it is such a function.
  bool finish(const DraftBinding& binding, std::vector<Binding>& finished);
  /// The final expression of a statement, with the copies of earlier statements' polymorphic functions that
  /// it needs.
  ExprPtr finish_statement(DraftPtr draft);
  /// The types of a declaration's nodes, by node id.
  std::vector<Type> types_of(uint32_t declaration);

 private:
  ExprPtr without_checks(DraftPtr draft);
  ExprPtr form(const FormDraft& form, Type type);
  ExprPtr literal(const LiteralDraft& literal, Type type);
  ExprPtr intrinsic(const Draft& draft, Type type, IntrinsicKind kind, DraftSpan args,
                    std::span<const std::string_view> texts);
  ExprPtr failed(const Draft& draft);
  bool copies(const Variable* variable, std::vector<Binding>& finished);
  // operator_calls.cpp
  ExprPtr operator_call(const OperatorCallDraft& call, Type type);
  ExprPtr definition_call(const OperatorCallDraft& call, SignatureBinding binding, Type type);
  void report_instance(const OperatorCallDraft& call, InstanceAnswer& answer);
  StaticValue settled(const StaticValue& value);

  Operators& operators_;
  Schedules& schedules_;
  const Copies& copies_;
};

}  // namespace quern
