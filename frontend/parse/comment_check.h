#pragma once
// Comments that swallow an operand: `7 // 2` where a quotient was meant.

#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"

namespace quern {

/// Where `//` stands between two operands, with at most a blank at either side, and nothing but arithmetic
/// follows on its line. Places are in the text.
std::vector<SyntaxProblem> comments_for_operators(std::string_view text);

}  // namespace quern
