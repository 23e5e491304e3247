#pragma once
// Where the texts of imported modules are: on disk, or in the binary. `quern:models/bert.relay` is a module of the library;
// no file has such a path.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"

namespace quern {

/// Whether the path names a module of the library.
bool is_library_module(std::string_view path);
/// The paths of all modules of the library.
std::vector<std::string> library_modules();
/// The text of one of them; nothing for any other path.
std::optional<std::string_view> library_module(std::string_view path);

/// The paths at which an import in a file of `folder` looks for a module: beside the importing file, then from the project's
/// root (the folder with `quern.toml`).
std::vector<std::string> import_paths(const std::string& folder, const std::string& path);
/// One key for all paths of a module.
std::string module_key(const std::string& path);
bool is_there(const std::string& key);
Result<std::string> text_of_module(const std::string& key);

}  // namespace quern
