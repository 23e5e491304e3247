#include "repl/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "frontend/text/suggest.h"

namespace quern {

namespace {

constexpr std::string_view kValues = "values that the prompt shows", kInputs = "inputs at the prompt";

constexpr std::array<std::string_view, 4> kPictures{"auto", "blocks", "sixel", "kitty"};

constexpr std::array<Setting, 6> kSettings{{
    {.name = "precision",
     .help = "significant digits of floats; 0: as many as it takes to tell a number from its neighbours",
     .applies = kValues,
     .number = &Settings::precision,
     .most = 17},
    {.name = "threshold",
     .help = "elements from which on a tensor is shown in parts",
     .applies = kValues,
     .number = &Settings::threshold,
     .least = 1,
     .most = 1'000'000'000},
    {.name = "width",
     .help = "columns of a line; 0: those of the terminal",
     .applies = kValues,
     .number = &Settings::width,
     .most = 10'000},
    {.name = "timing",
     .help = "tell how long each input took",
     .applies = kInputs,
     .flag = &Settings::timing},
    {.name = "colour",
     .help = "colours in diagnostics, texts and pictures; at first as the terminal takes them",
     .applies = kInputs,
     .flag = &Settings::colour},
    {.name = "pictures",
     .help = "what a terminal draws pictures with: characters, or pixels in a form that it takes",
     .applies = kInputs,
     .word = &Settings::pictures,
     .words = kPictures},
}};

}  // namespace

std::span<const Setting> all_settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  const auto* found = std::ranges::find(kSettings, name, &Setting::name);
  return found == kSettings.end() ? nullptr : found;
}

std::string no_such_setting(std::string_view name) {
  std::vector<std::string> names;
  names.reserve(kSettings.size());
  for (const Setting& setting : kSettings) names.emplace_back(setting.name);
  const auto meant = did_you_mean(name, names);
  return fmt::format(
      "there is no setting `{}`; {}", name,
      meant ? fmt::format("did you mean `{}`?", *meant) : fmt::format("they are {}", fmt::join(names, ", ")));
}

std::string value_text(const Settings& settings, const Setting& setting) {
  if (setting.flag) return settings.*setting.flag ? "on" : "off";
  if (setting.word) return settings.*setting.word;
  return std::to_string(settings.*setting.number);
}

std::string origin_text(const Settings& settings, const Setting& setting) {
  const auto by = settings.set_by.find(setting.name);
  return by == settings.set_by.end() ? "default" : by->second;
}

std::string values_text(const Setting& setting) {
  if (setting.flag) return "on or off";
  if (setting.word)
    return fmt::format("{} or {}", fmt::join(setting.words.first(setting.words.size() - 1), ", "),
                       setting.words.back());
  return fmt::format("a number from {} to {}", setting.least, setting.most);
}

std::span<const std::string_view> values_of(const Setting& setting) {
  static constexpr std::array<std::string_view, 2> kFlag{"on", "off"};
  return setting.flag ? kFlag : setting.words;
}

bool set(Settings& settings, const Setting& setting, std::string_view text, const std::string& by) {
  if (setting.flag) {
    if (text != "on" && text != "off") return false;
    settings.*setting.flag = text == "on";
  } else if (setting.word) {
    if (std::ranges::find(setting.words, text) == setting.words.end()) return false;
    settings.*setting.word = text;
  } else {
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    if (number < setting.least || number > setting.most) return false;
    settings.*setting.number = number;
  }
  settings.set_by[std::string(setting.name)] = by;
  return true;
}

}  // namespace quern
