#pragma once
// What a user may set at the prompt, in one table.

#include <cstdint>
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
};

struct Setting {
  std::string_view name;
  std::string_view help;
  bool Settings::*flag = nullptr;       ///< of one that is on or off
  int64_t Settings::*number = nullptr;  ///< of one that is a number
  int64_t least = 0, most = 0;          ///< of a number
};

std::span<const Setting> all_settings();
/// Null where there is none of that name.
const Setting* find_setting(std::string_view name);
/// "64", "on".
std::string value_text(const Settings& settings, const Setting& setting);
/// What a setting takes: "on or off", "a number from 0 to 17".
std::string values_text(const Setting& setting);
/// Sets it to what a text says; false where it says nothing that the setting takes.
bool set(Settings& settings, const Setting& setting, std::string_view text);

}  // namespace quern
