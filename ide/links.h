#pragma once
// The files that a text names.

#include <string>
#include <vector>

#include "session/session.h"

namespace quern::ide {

struct FileLink {
  Range range;  ///< the path, without its quotes
  std::string path;
};

/// The existing files among those of imports and those that `load` reads.
std::vector<FileLink> file_links(Session& session, SourceId source);

}  // namespace quern::ide
