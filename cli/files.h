#pragma once
// Files that commands rewrite.

#include <string>

namespace quern {

/// The file is replaced as a whole, so that none is half written; its permissions stay. Whether it was done.
bool replace_file(const std::string& path, const std::string& text);

}  // namespace quern
