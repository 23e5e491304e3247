#include "passes/partial_eval/partial_eval.h"

#include "passes/gradient/lifting/lifted.h"
#include "passes/partial_eval/specialiser.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

bool has_tape(ExprPtr expr) {
  bool found = expr->kind == ExprKind::Construct && lifting::is_scaffold(expr->type);
  if (!found) for_each_child(expr, [&](ExprPtr child) { found = found || has_tape(child); });
  return found;
}

}  // namespace

ExprPtr partial_eval(const PassContext& context, ExprPtr expr, const PartialEvalLimits& limits) {
  return to_anf(context, partial::Specialiser(context, limits).run(expr));
}

ExprPtr evaluate_tapes(const PassContext& context, ExprPtr expr) {
  return has_tape(expr) ? partial_eval(context, expr) : expr;
}

}  // namespace quern
