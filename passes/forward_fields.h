#pragma once

#include "passes/pass.h"

namespace quern {

/// Replaces fields of let-bound tuples by the values in them, so that a tuple does not keep its unused fields
/// alive. In A-normal form.
ExprPtr forward_fields(const PassContext& context, ExprPtr expr);

}  // namespace quern
