#pragma once

#include <string>

#include "passes/pass.h"

namespace quern {

/// The first invariant of the typed IR that an expression breaks, or "": every variable is bound before it is
/// used (free ones are those of `inputs`), types of operands and results fit, index variables are bound
/// around their uses.
std::string verify(ExprPtr expr, const std::vector<const Variable*>& inputs);

}  // namespace quern
