#pragma once
// A temporary folder for what contenders hand each other.

#include <cstdio>
#include <filesystem>
#include <string>

namespace quern::bench {

/// Gone with the object, or with the process however it ends.
class Folder {
 public:
  /// Its name begins with `prefix`. Ends the process where none can be made.
  explicit Folder(const std::string& prefix);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  std::FILE* remover_ = nullptr;  ///< a process that removes it when this pipe closes
};

}  // namespace quern::bench
