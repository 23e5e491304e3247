#pragma once
// The occurrences in a source of the name at a place.

#include <vector>

#include "session/session.h"

namespace quern::ide {

struct Highlight {
  Range range;
  bool declares = false;  ///< the name is bound here
};

/// In text order; empty if there is no name.
std::vector<Highlight> highlights(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
