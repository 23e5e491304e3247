#pragma once
// The files that a text names.

#include <optional>
#include <string>
#include <vector>

#include "session/session.h"

namespace quern::ide {

struct FileLink {
  Range range;  ///< the path, without its quotes
  std::string path;
  std::optional<SourceId> module;  ///< of an import
};

/// The files and modules that imports name, and the existing files that `load` reads.
std::vector<FileLink> file_links(Session& session, SourceId source);

}  // namespace quern::ide
