#pragma once
// Values that are functions.

#include "frontend/infer/draft/draft.h"

namespace quern {

/// Whether evaluating it again is the same function, at no cost.
inline bool names_function(DraftPtr function) {
  return form_of<FnExpr>(function) || form_of<VarExpr>(function) || form_of<GlobalExpr>(function) ||
         function->kind == DraftKind::GeneralUse;
}

}  // namespace quern
