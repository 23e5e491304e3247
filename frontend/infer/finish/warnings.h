#pragma once
// The `warn` clauses of operators, for calls that do something unexpected.

#include "frontend/infer/context/context.h"

namespace quern {

/// Reports the `warn` clauses of the operator that hold for a call.
void warn(Context& context, const OperatorCallDraft& call, const SignatureBinding& binding);

}  // namespace quern
