#pragma once
// The settings of a user, in one table: set at the prompt by `:set`, and in files (repl/settings/settings_file.h).

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/value/value_style.h"

namespace quern {

struct Settings {
  int64_t precision = 0;  ///< significant digits of floats; 0: as many as tell a number from its neighbours
  int64_t threshold = ValueStyle().threshold;  ///< elements of a tensor from which on parts are left out
  int64_t width = 0;                           ///< columns of a line; 0: those of the terminal
  bool timing = false;                         ///< how long each input took
  bool colour = false;                         ///< in diagnostics and texts
  std::string pictures = "auto";               ///< what they are drawn with
  /// The origin of values by the names of settings: ":set", "quern.toml:3"; settings that are absent have their defaults.
  std::map<std::string, std::string, std::less<>> set_by{};
};

struct Setting {
  std::string_view name;
  std::string_view help;
  std::string_view applies;               ///< to what
  bool Settings::*flag = nullptr;         ///< of one that is on or off
  int64_t Settings::*number = nullptr;    ///< of one that is a number
  int64_t least = 0, most = 0;            ///< of a number
  std::string Settings::*word = nullptr;  ///< of one that is one of `words`
  std::span<const std::string_view> words{};
};

std::span<const Setting> all_settings();
/// Null if there is none of that name.
const Setting* find_setting(std::string_view name);
/// "there is no setting `timng`; did you mean `timing`?"
std::string no_such_setting(std::string_view name);
/// "64", "on".
std::string value_text(const Settings& settings, const Setting& setting);
/// The origin of the value: ":set", "quern.toml:3", "default".
std::string origin_text(const Settings& settings, const Setting& setting);
/// Describes the values of a setting: "on or off", "a number from 0 to 17", "auto, blocks, sixel or kitty".
std::string values_text(const Setting& setting);
/// The possible values if they are few; otherwise none.
std::span<const std::string_view> values_of(const Setting& setting);
/// Parses and sets a value, with the origin `by`; false if the setting does not accept it.
bool set(Settings& settings, const Setting& setting, std::string_view text, const std::string& by);

}  // namespace quern
