#pragma once
// The files of the page, by the paths that a browser requests.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace quern::serve {

class PageFiles {
 public:
  /// The files in a folder at construction. Only these have paths, so no path leads out of the folder.
  explicit PageFiles(const std::filesystem::path& folder);

  struct File {
    std::string_view type;  ///< as of Content-Type
    std::string content;
  };
  /// The file at a path such as `/page.js`; `/` is `/index.html`. Nothing if there is no such file.
  std::optional<File> find(std::string_view path) const;

 private:
  std::map<std::string, std::filesystem::path, std::less<>> files_;
};

}  // namespace quern::serve
