#pragma once

#include "passes/pass.h"

namespace quern {

/// Replaces fields of let-bound tuples by the values in them, and further names of a variable by the variable:
/// a tuple does not keep its unused fields alive, and a value has one name, behind which fusion sees it. In
/// A-normal form.
ExprPtr forward_fields(const PassContext& context, ExprPtr expr);

}  // namespace quern
