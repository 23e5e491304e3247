#pragma once
// Rewriting files.

#include <string>

namespace quern {

/// Replaces the file atomically and keeps its permissions. False if that fails.
bool replace_file(const std::string& path, const std::string& text);

}  // namespace quern
