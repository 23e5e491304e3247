#include "ide/alignment.h"

#include <algorithm>
#include <cstdint>

namespace quern::ide {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

namespace {

/// Entry (i, j) is the number of changes between the lines from i on and those from j on.
class Table {
 public:
  Table(size_t first, size_t second, const LineRules& rules)
      : first_(first), second_(second), rules_(rules), changes_((first + 1) * (second + 1)) {
    for (size_t i = first + 1; i-- > 0;)
      for (size_t j = second + 1; j-- > 0;) changes(i, j) = least(i, j);
  }

  Alignment alignment() {
    Alignment found{changes(0, 0)};
    for (size_t i = 0, j = 0; i < first_ || j < second_;) {
      if (agree(i, j) && changes(i, j) == changes(i + 1, j + 1)) {
        found.lines.push_back({' ', i++, j++});
      } else if (i < first_ && changes(i, j) == changes(i + 1, j) + price(i)) {
        if (!is_any(i)) found.lines.push_back({'-', i, j});
        ++i;
      } else {
        found.lines.push_back({is_any(i) ? ' ' : '+', i, j});
        ++j;
      }
    }
    return found;
  }

 private:
  uint32_t& changes(size_t i, size_t j) { return changes_[i * (second_ + 1) + j]; }
  bool is_any(size_t i) const { return rules_.is_any && i < first_ && rules_.is_any(i); }
  uint32_t price(size_t i) const { return is_any(i) ? 0 : 1; }
  bool agree(size_t i, size_t j) const {
    return i < first_ && j < second_ && !is_any(i) && rules_.agree(i, j);
  }

  uint32_t least(size_t i, size_t j) {
    if (i == first_ && j == second_) return 0;
    uint32_t found = UINT32_MAX;
    if (i < first_) found = changes(i + 1, j) + price(i);
    if (j < second_) found = std::min(found, changes(i, j + 1) + price(i));
    if (agree(i, j)) found = std::min(found, changes(i + 1, j + 1));
    return found;
  }

  const size_t first_, second_;
  const LineRules& rules_;
  std::vector<uint32_t> changes_;
};

}  // namespace

Alignment aligned(size_t first, size_t second, const LineRules& rules) {
  return Table(first, second, rules).alignment();
}

}  // namespace quern::ide
