#pragma once
// Where a source names what the name at a place stands for.

#include <vector>

#include "session/session.h"

namespace quern::ide {

struct Highlight {
  Range range;
  bool declares = false;  ///< the name is bound here
};

/// In the order of the text; none where no name is.
std::vector<Highlight> highlights(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
