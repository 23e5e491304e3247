#include "frontend/infer/calls/calls.h"

namespace quern {

DraftPtr Calls::call(SyntaxPtr s, Type wanted) {
  SyntaxPtr callee = s->child(0);
  if (callee->is(SyntaxKind::GlobalName) && callee->children.empty())
    if (const Declaration* head = scope_.global(callee->text); head && has_attributes_or_packs(*head))
      return operators_.call(s, *head);
  if (!callee->is(SyntaxKind::Name) && !callee->is(SyntaxKind::None)) return functions_.call(s);
  if (callee->text == "print") return intrinsics_.call(s, IntrinsicKind::Print);
  if (callee->text == "load") return intrinsics_.call(s, IntrinsicKind::Load);
  if (callee->text == "save") return intrinsics_.call(s, IntrinsicKind::Save);
  if (callee->text == "assert_close" || callee->text == "assert_equal")
    return intrinsics_.assertion(s, callee->text == "assert_close");
  if (callee->text == "len") return values_.tuples.length(s);
  if (callee->text == "index" && s->children.size() == 2) return values_.tuples.index_value(s);
  if (const DataDefinition* data = scope_.data_of_constructor(callee->text))
    return constructors_.construct(s, callee, *data, wanted);
  if (const Declaration* op = scope_.op(callee->text)) return operators_.call(s, *op);
  if (callee->text == "clock") return intrinsics_.clock(s);
  if (callee->text == "ref" || callee->text == "ref_read" || callee->text == "ref_write")
    return values_.references.call(s, wanted);
  for (IntrinsicKind kind :
       {IntrinsicKind::Gradient, IntrinsicKind::ValueAndGradient, IntrinsicKind::VectorJacobian,
        IntrinsicKind::JacobianVector, IntrinsicKind::Checkpoint, IntrinsicKind::StopGradient})
    if (callee->text == to_string(kind)) return values_.derivatives.call(s, kind, wanted);
  return unknown_call(s);
}

DraftPtr Calls::unknown_call(SyntaxPtr s) {
  size_t before = diagnostics_.size();
  unknown_.report(s->child(0), DiagnosticKind::UnknownOperator, "operator");
  // The arguments of another library's function need not be values here; attributes are none anywhere.
  if (diagnostics_.size() > before && diagnostics_.back().kind == DiagnosticKind::ForeignName)
    return error(s);
  for (SyntaxPtr arg : s->children.subspan(1))
    if (!arg->is(SyntaxKind::NamedArgument) && !arg->is(SyntaxKind::String)) infer(arg);
  return error(s);
}

}  // namespace quern
