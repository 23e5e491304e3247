#include "ir/tokens/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace quern::tokens_detail {

std::string Vocabulary::add(std::string text, int64_t id) {
  if (id < 0 || id > std::numeric_limits<int32_t>::max())
    return fmt::format("the id {} of `{}` is no int32 from 0 on", id, text);
  if (text.empty()) return fmt::format("the text of id {} is empty", id);
  if (ids_.contains(text)) return fmt::format("`{}` has two ids", text);
  const auto [entry, is_new] = texts_.emplace(static_cast<int32_t>(id), std::move(text));
  if (!is_new) return fmt::format("the id {} is that of two texts", id);
  ids_.emplace(entry->second, entry->first);
  return "";
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Vocabulary::text_of(int64_t id) const {
  if (id < 0 || id > std::numeric_limits<int32_t>::max()) return nullptr;
  const auto found = texts_.find(static_cast<int32_t>(id));
  return found == texts_.end() ? nullptr : &found->second;
}

LongestMatch::LongestMatch(const Vocabulary& vocabulary) {
  for (const auto& [id, text] : vocabulary.entries()) add(text, id);
}

void LongestMatch::add(const std::string& text, int32_t id) {
  ids_.emplace(text, id);
  const auto place = std::ranges::lower_bound(sizes_, text.size(), std::greater());
  if (place == sizes_.end() || *place != text.size()) sizes_.insert(place, text.size());
}

std::optional<LongestMatch::Found> LongestMatch::at(std::string_view rest) const {
  for (const size_t size : sizes_) {
    if (size > rest.size()) continue;
    if (const auto found = ids_.find(rest.substr(0, size)); found != ids_.end())
      return Found{found->second, size};
  }
  return std::nullopt;
}

}  // namespace quern::tokens_detail
