#include "serve/page_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

namespace quern::serve {

namespace {

namespace fs = std::filesystem;

std::string_view type_of(const fs::path& file) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kTypes{
      Row{".html", "text/html; charset=utf-8"},
      Row{".js", "text/javascript; charset=utf-8"},
      Row{".css", "text/css; charset=utf-8"},
      Row{".json", "application/json"},
      Row{".map", "application/json"},
      Row{".txt", "text/plain; charset=utf-8"},
      Row{".svg", "image/svg+xml"},
      Row{".png", "image/png"},
      Row{".ttf", "font/ttf"},
      Row{".woff2", "font/woff2"},
  };
  const std::string ending = file.extension().string();
  const auto row = std::ranges::find(kTypes, ending, &Row::first);
  return row == kTypes.end() ? "application/octet-stream" : row->second;
}

}  // namespace

PageFiles::PageFiles(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  for (; !error && at != end; at.increment(error))
    if (std::error_code ignored; at->is_regular_file(ignored))
      files_.emplace("/" + at->path().lexically_relative(folder).generic_string(), at->path());
}

std::optional<PageFiles::File> PageFiles::find(std::string_view path) const {
  const auto file = files_.find(path == "/" ? "/index.html" : path);
  if (file == files_.end()) return std::nullopt;
  std::ifstream in(file->second, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) return std::nullopt;
  return File{type_of(file->second), std::move(content).str()};
}

}  // namespace quern::serve
