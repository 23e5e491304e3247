#include "repl/settings/settings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "repl/command_files.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace quern {

namespace {

/// A value as it is named, of numbers as `:set` takes them.
std::string text_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get() ? "on" : "off";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* text = node.as_string()) return fmt::format("\"{}\"", text->get());
  if (node.is_table()) return "a table";
  return node.is_array() ? "an array" : "a date or a time";
}

std::string values_in_file(const Setting& setting) {
  return setting.flag ? "`true` or `false`" : values_text(setting);
}

/// Sets it to a value of its kind; false where the setting does not take it.
bool set(Settings& settings, const Setting& setting, const toml::node& node, const std::string& by) {
  if (const auto* word = node.as_string()) return setting.word && set(settings, setting, word->get(), by);
  return (setting.flag != nullptr) == node.is_boolean() && set(settings, setting, text_of(node), by);
}

std::string what_is(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get() ? "`true`" : "`false`";
  const std::string text = text_of(node);
  return text.starts_with("a") ? text : fmt::format("`{}`", text);
}

std::string at(const std::string& name, const toml::source_position& place, std::string_view message) {
  return fmt::format("{}:{}:{}: {}", name, place.line, place.column, message);
}

struct Problem {
  toml::source_position place;
  std::string message;
};

}  // namespace

std::vector<std::string> read_settings(const std::string& text, const std::string& name, Settings& settings) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) return {at(name, parsed.error().source().begin, std::string(parsed.error().description()))};
  std::vector<Problem> problems;
  for (const auto& [key, node] : parsed.table()) {
    const toml::source_position place = key.source().begin;
    const Setting* setting = find_setting(key.str());
    if (!setting)
      problems.push_back({place, no_such_setting(key.str())});
    else if (!set(settings, *setting, node, fmt::format("{}:{}", name, place.line)))
      problems.push_back(
          {place, fmt::format("`{}` is {}, not {}", setting->name, values_in_file(*setting), what_is(node))});
  }
  std::ranges::sort(problems, {}, [](const Problem& p) { return std::pair(p.place.line, p.place.column); });
  std::vector<std::string> told;
  told.reserve(problems.size());
  for (const Problem& problem : problems) told.push_back(at(name, problem.place, problem.message));
  return told;
}

// https://specifications.freedesktop.org/basedir-spec
std::filesystem::path user_settings_path() {
  const auto folder = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path(value ? value : "");
  };
  const std::filesystem::path files = "quern/config.toml";
  if (const auto config = folder("XDG_CONFIG_HOME"); config.is_absolute()) return config / files;
  const auto home = folder("HOME");
  return home.empty() ? home : home / ".config" / files;
}

std::filesystem::path project_settings_path() { return "quern.toml"; }

std::vector<std::string> load_settings(const std::filesystem::path& path, Settings& settings) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return {};
  auto text = read_file(path.string());
  if (!text) return {text.error().message};
  return read_settings(*text, path.string(), settings);
}

}  // namespace quern
