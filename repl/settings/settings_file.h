#pragma once
// Settings in files of TOML (https://toml.io): `NAME = VALUE`, where flags are `true` or `false`, and words are strings.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "repl/settings/settings.h"

namespace quern {

/// Sets what a file's text says, and tells what is wrong in it, in the order of its lines, each with the file's name,
/// line and column. What is right counts all the same; a text that is no TOML sets nothing.
std::vector<std::string> read_settings(const std::string& text, const std::string& name, Settings& settings);

/// `quern/config.toml` in $XDG_CONFIG_HOME or `~/.config`; empty where the environment names neither.
std::filesystem::path user_settings_path();
/// `quern.toml`, in the folder of the work.
std::filesystem::path project_settings_path();
/// The same of a file, of which nothing is told where there is none.
std::vector<std::string> load_settings(const std::filesystem::path& path, Settings& settings);

}  // namespace quern
