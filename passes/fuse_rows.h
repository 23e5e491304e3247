#pragma once

#include "passes/pass.h"

namespace quern {

/// Makes one primitive function of index expressions that reduce rows and use what they reduced (softmax,
/// norms), where each can be done for a row before the next row (passes/row_group.h): a row is then read from
/// memory once. Takes A-normal form and gives it with such calls.
ExprPtr fuse_rows(const PassContext& context, ExprPtr expr);

}  // namespace quern
