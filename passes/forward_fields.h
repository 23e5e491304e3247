#pragma once

#include "passes/pass.h"

namespace quern {

/// Replaces the fields of tuples that a `let` around binds by what stands in them, so that a tuple of which
/// some fields are not used keeps none of them alive. In A-normal form.
ExprPtr forward_fields(const PassContext& context, ExprPtr expr);

}  // namespace quern
