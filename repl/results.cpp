#include "repl/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "repl/report/command_text.h"

namespace quern {

namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Calls `visit` with the places of `%name` in a text.
void for_each_use(std::string_view text, std::string_view name, const std::function<void(size_t)>& visit) {
  for (size_t i = 0; i < text.size();) {
    if (const size_t end = end_of_quoted(text, i); end > i) {
      i = end;
      continue;
    }
    const size_t end = i + 1 + name.size();
    if (text[i] == '%' && text.substr(i + 1).starts_with(name) &&
        (end == text.size() || !is_name_character(text[end])))
      visit(i);
    ++i;
  }
}

/// Whether the text before a place is a `let` and the beginning of its pattern, as `(%a, Net(weight=`.
bool begins_pattern(std::string_view before) {
  before = trimmed(before.substr(before.find_last_of(";{}") + 1));
  if (!before.starts_with("let") || (before.size() > 3 && is_name_character(before[3]))) return false;
  int depth = 0;
  for (const char c : before) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == '=' && depth == 0) return false;
  }
  return true;
}

/// Whether `%_` at `at` is a pattern or the name of a `let`, which takes any value and keeps none.
bool binds(std::string_view text, size_t at) {
  const std::string_view after = trimmed(text.substr(at + 2));
  return begins_pattern(text.substr(0, at)) || (after.starts_with("=") && !after.starts_with("==")) ||
         after.starts_with(":");
}

}  // namespace

bool reads_variable(std::string_view text, std::string_view name) {
  bool found = false;
  for_each_use(text, name, [&](size_t) { found = true; });
  return found;
}

bool Results::is_name(std::string_view variable) {
  return variable.size() > 1 && variable[0] == '_' &&
         std::ranges::all_of(variable.substr(1), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string Results::with_last(std::string_view text) const {
  std::string out;
  size_t copied = 0;
  for_each_use(text, "_", [&](size_t at) {
    if (sources_.empty() || binds(text, at)) return;
    out += fmt::format("{}%_{}", text.substr(copied, at - copied), sources_.size());
    copied = at + 2;
  });
  return out + std::string(text.substr(copied));
}

void Results::add(const ShownValue& shown) {
  const size_t number = sources_.size() + 1;
  const SourceId source =
      session_.add_source(module_, fmt::format("<result {}>", number),
                          fmt::format("free_var %_{}: {};", number, to_string(shown.type)));
  sources_.push_back(source);
  if (has_errors(session_.check(source)))
    clear(source);
  else
    execution_.give(session_.statements(source).front(), shown.value);
  if (number > kKept) clear(sources_[number - kKept - 1]);
}

void Results::clear(SourceId source) {
  for (DeclarationId statement : session_.statements(source)) execution_.forget(statement);
  session_.set_text(source, "");
}

void Results::remove_last() {
  clear(sources_.back());
  sources_.pop_back();
  session_.remove_last_source(module_);
}

}  // namespace quern
