#pragma once
// Settings in files of TOML (https://toml.io): `NAME = VALUE`, where flags are `true` or `false`, and words are strings.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "repl/settings/settings.h"

namespace quern {

/// Applies the text of a file and returns its errors in the order of the lines, each with the file's name, line and
/// column. Valid entries are applied even if others are wrong; a text that is not TOML sets nothing.
std::vector<std::string> read_settings(const std::string& text, const std::string& name, Settings& settings);

/// `quern/config.toml` in $XDG_CONFIG_HOME or `~/.config`; empty where the environment names neither.
std::filesystem::path user_settings_path();
/// `quern.toml` in the working directory.
std::filesystem::path project_settings_path();
/// The same for a file; a missing file is not an error.
std::vector<std::string> load_settings(const std::filesystem::path& path, Settings& settings);

}  // namespace quern
