#pragma once

#include <span>
#include <string>

#include "ir/expr/expr.h"

namespace quern {

/// The operators that expressions call, by fusion class, as comments: `// contraction: nn.conv2d, nn.dense`,
/// one line per class. "" if there are none.
std::string fusion_legend(FunctionSource& functions, std::span<const ExprPtr> exprs);

}  // namespace quern
