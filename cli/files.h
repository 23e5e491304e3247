#pragma once
// Files that commands take, and rewriting them.

#include <string>
#include <vector>

namespace quern {

/// Replaces the file atomically and keeps its permissions. False if that fails.
bool replace_file(const std::string& path, const std::string& text);

/// The paths, with a folder replaced by the `.relay` files in it and below, in order, and with its `.transcript` files where
/// these are wanted too. Folders whose names begin with a dot are passed over. A folder that has none stays.
std::vector<std::string> with_files_of_folders(const std::vector<std::string>& paths, bool wants_transcripts);

}  // namespace quern
