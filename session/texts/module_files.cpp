#include "session/texts/module_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "session/texts/embedded.h"

namespace quern {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "quern:";

// The nearest ancestor folder with a `quern.toml`, relative to the working folder if `folder` is; "" if there is none.
std::string project_root(const std::string& folder) {
  std::error_code error;
  const fs::path at = folder.empty() ? fs::path(".") : fs::path(folder);
  const fs::path full = fs::weakly_canonical(at, error);
  for (fs::path up = full; !error; up = up.parent_path()) {
    if (fs::exists(up / "quern.toml", error))
      return at.is_relative() ? up.lexically_relative(fs::current_path(error)).string() : up.string();
    if (up == up.parent_path()) break;
  }
  return "";
}

}  // namespace

bool is_library_module(std::string_view path) { return path.starts_with(kLibrary); }

std::vector<std::string> library_modules() {
  std::vector<std::string> paths;
  for (const EmbeddedFile& file : embedded_models())
    paths.push_back(std::string(kLibrary) + std::string(file.name));
  return paths;
}

std::optional<std::string_view> library_module(std::string_view path) {
  if (!is_library_module(path)) return std::nullopt;
  const std::span<const EmbeddedFile> all = embedded_models();
  const auto found = std::ranges::find(all, path.substr(kLibrary.size()), &EmbeddedFile::name);
  return found == all.end() ? std::nullopt : std::optional(found->text);
}

std::vector<std::string> import_paths(const std::string& folder, const std::string& path) {
  if (path.empty()) return {};
  if (is_library_module(path)) return {fs::path(path).lexically_normal().string()};
  std::vector<std::string> paths{(fs::path(folder) / path).lexically_normal().string()};
  if (is_library_module(folder)) return paths;
  const std::string root = project_root(folder);
  if (!root.empty()) {
    std::string from_root = (fs::path(root) / path).lexically_normal().string();
    if (module_key(from_root) != module_key(paths[0])) paths.push_back(std::move(from_root));
  }
  return paths;
}

std::string module_key(const std::string& path) {
  if (is_library_module(path)) return path;
  std::error_code error;
  const fs::path full = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path, error).lexically_normal().string() : full.string();
}

bool is_there(const std::string& key) {
  std::error_code ignored;
  return is_library_module(key) ? library_module(key).has_value() : fs::exists(key, ignored);
}

Result<std::string> text_of_module(const std::string& key) {
  if (is_library_module(key)) {
    const auto text = library_module(key);
    if (!text) return Failure{"the library has no such module"};
    return std::string(*text);
  }
  std::error_code ignored;
  if (fs::is_directory(key, ignored)) return Failure{"it is a folder"};
  const std::ifstream in(key, std::ios::binary);
  if (!in) return Failure{std::strerror(errno)};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace quern
