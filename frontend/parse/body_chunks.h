#pragma once
// The body of a long definition cut into chunks at its own `;`, each to be parsed and inferred alone, so that
// an edit touches one of them.

#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

/// Chunks of the body of `def @f…`, one after the other: all of what stands between its braces. Each but the
/// last ends behind a `;`. Where they end depends on the statements near there alone, so that an insertion
/// moves no boundary far from it. None for a short body, or where the text is no definition with one body.
std::vector<Range> body_chunks(std::string_view definition);

}  // namespace quern
