#include "repl/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace quern {

namespace {

constexpr std::array<Setting, 5> kSettings{{
    {.name = "precision",
     .help = "significant digits of floats; 0: as many as it takes to tell a number from its neighbours",
     .number = &Settings::precision,
     .most = 17},
    {.name = "threshold",
     .help = "elements from which on a tensor is shown in parts",
     .number = &Settings::threshold,
     .least = 1,
     .most = 1'000'000'000},
    {.name = "width",
     .help = "columns of a line; 0: those of the terminal",
     .number = &Settings::width,
     .most = 10'000},
    {.name = "timing", .help = "tell how long each input took", .flag = &Settings::timing},
    {.name = "colour", .help = "colours in diagnostics and texts", .flag = &Settings::colour},
}};

}  // namespace

std::span<const Setting> all_settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  const auto* found = std::ranges::find(kSettings, name, &Setting::name);
  return found == kSettings.end() ? nullptr : found;
}

std::string value_text(const Settings& settings, const Setting& setting) {
  if (setting.flag) return settings.*setting.flag ? "on" : "off";
  return std::to_string(settings.*setting.number);
}

std::string values_text(const Setting& setting) {
  return setting.flag ? "on or off" : fmt::format("a number from {} to {}", setting.least, setting.most);
}

bool set(Settings& settings, const Setting& setting, std::string_view text) {
  if (setting.flag) {
    if (text != "on" && text != "off") return false;
    settings.*setting.flag = text == "on";
    return true;
  }
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (number < setting.least || number > setting.most) return false;
  settings.*setting.number = number;
  return true;
}

}  // namespace quern
