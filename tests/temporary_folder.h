#pragma once
// A folder that no other test has.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace quern {

/// Empty when it is made, and gone with what is in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "quern_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no folder can be made: " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string string() const { return path_.string(); }
  friend std::filesystem::path operator/(const TemporaryFolder& folder, const std::string& name) {
    return folder.path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace quern
