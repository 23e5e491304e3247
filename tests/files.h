#pragma once
// The files that tests read.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The `.relay` files below folders of the sources, in order, as paths from the top of the sources, so that
/// they read the same on every machine.
inline std::vector<std::string> relay_files(std::initializer_list<const char*> folders) {
  namespace fs = std::filesystem;
  const fs::path top = QUERN_SOURCE_DIR;
  std::vector<std::string> files;
  for (const char* folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(top / folder))
      if (entry.path().extension() == ".relay")
        files.push_back(entry.path().lexically_relative(top).generic_string());
  // A test of every file that finds none would hold.
  if (files.empty()) throw std::runtime_error("no `.relay` file in the folders");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace quern
