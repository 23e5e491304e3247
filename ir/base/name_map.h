#pragma once
// Values by name.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern {

/// Values by name, in the order of the names: a sorted list, made for some tens of them. A copy is one piece of memory.
/// Places move when a name is added or removed.
template <class Value>
class NameMap {
 public:
  using Entry = std::pair<std::string, Value>;
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }

  const_iterator find(std::string_view name) const {
    const auto at = std::lower_bound(begin(), end(), name, precedes);
    return at != end() && at->first == name ? at : end();
  }
  bool contains(std::string_view name) const { return find(name) != end(); }

  void insert_or_assign(std::string_view name, Value value) {
    const auto at = std::lower_bound(begin(), end(), name, precedes);
    if (at != end() && at->first == name) {
      at->second = std::move(value);
    } else if (entries_.empty()) {
      entries_.reserve(kMostHave);
      entries_.emplace_back(std::string(name), std::move(value));
    } else {
      entries_.emplace(at, std::string(name), std::move(value));
    }
  }
  void erase(std::string_view name) {
    if (const auto at = find(name); at != end()) entries_.erase(at);
  }

 private:
  static constexpr size_t kMostHave = 4;
  static bool precedes(const Entry& entry, std::string_view name) { return entry.first < name; }

  std::vector<Entry> entries_;
};

}  // namespace quern
