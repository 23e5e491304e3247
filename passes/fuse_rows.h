#pragma once

#include "passes/pass.h"

namespace quern {

/// Combines index expressions that reduce rows and use the results (softmax, norms) into one primitive
/// function, if all can be computed for a row before the next row (passes/row_group.h), so that a row is read
/// from memory once. From A-normal form to A-normal form with such calls.
ExprPtr fuse_rows(const PassContext& context, ExprPtr expr);

}  // namespace quern
