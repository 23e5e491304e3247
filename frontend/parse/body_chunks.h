#pragma once
// Splits the body of a long definition into chunks at its top-level `;`, each parsed and inferred alone, so
// that an edit touches one chunk.

#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

/// Consecutive chunks of the body of `def @f…` that cover everything between its braces. Each except the last
/// ends after a `;`. A boundary depends only on nearby statements, so an insertion moves no distant boundary.
/// None for a short body, or if the text is not a definition with one body.
std::vector<Range> body_chunks(std::string_view definition);

}  // namespace quern
