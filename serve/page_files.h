#pragma once
// The files of the page, by the paths that a browser asks for.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace quern::serve {

class PageFiles {
 public:
  /// The files that are in a folder now. Nothing else has a path, so no path leads out of the folder.
  explicit PageFiles(const std::filesystem::path& folder);

  struct File {
    std::string_view type;  ///< as of Content-Type
    std::string content;
  };
  /// What is at a path such as `/page.js`; `/` is `/index.html`. Nothing where there is no such file.
  std::optional<File> find(std::string_view path) const;

 private:
  std::map<std::string, std::filesystem::path, std::less<>> files_;
};

}  // namespace quern::serve
