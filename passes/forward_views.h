#pragma once

#include "passes/pass.h"

namespace quern {

/// A view of a view that a `let` around binds is a view of the first tensor, or that tensor itself where it has
/// the shape: no view is made that only another one reads. In A-normal form.
ExprPtr forward_views(const PassContext& context, ExprPtr expr);

}  // namespace quern
