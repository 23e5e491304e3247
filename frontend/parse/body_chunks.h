#pragma once
// Splits the body of a long definition into chunks at its top-level `;`, each parsed and inferred alone, so
// that an edit touches one chunk.

#include <string_view>
#include <vector>

#include "frontend/parse/scanner.h"
#include "frontend/text/source.h"

namespace quern {

struct BodyChunks {
  std::vector<Range> ranges;
  bool balanced = true;  ///< every bracket of the body is closed
};

/// Consecutive chunks of the body of `def @f…` that cover everything between its braces. Each except the last
/// ends after a `;`. A boundary depends only on nearby statements, so an insertion moves no distant boundary.
/// None for a short body, or if the text is not a definition with one body.
BodyChunks body_chunks(std::string_view definition);
/// The same after an edit, from the chunks before it: reads the statements around it alone where it can.
BodyChunks body_chunks(std::string_view definition, const BodyChunks& before, TextEdit edit);

}  // namespace quern
