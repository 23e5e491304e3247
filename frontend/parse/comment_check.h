#pragma once
// Comments that swallow an operand: `7 // 2` where a quotient was meant.

#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"

namespace quern {

/// Finds `//` between two operands, with at most one blank on either side and only arithmetic after it on its
/// line. Places are in the text.
std::vector<SyntaxProblem> comments_for_operators(std::string_view text);

}  // namespace quern
