#include "repl/report/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quern {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct DiffLine {
  char sign;
  std::string_view text;
};

/// By a longest common subsequence, whose table is of the lines between what both begin with and end in.
std::vector<DiffLine> compared(const std::vector<std::string_view>& before,
                               const std::vector<std::string_view>& after) {
  const size_t n = before.size(), m = after.size();
  size_t head = 0, tail = 0;
  while (head < std::min(n, m) && before[head] == after[head]) ++head;
  while (tail < std::min(n, m) - head && before[n - 1 - tail] == after[m - 1 - tail]) ++tail;
  const size_t rows = n - head - tail, columns = m - head - tail;
  std::vector<uint32_t> common((rows + 1) * (columns + 1), 0);
  const auto at = [&](size_t i, size_t j) -> uint32_t& { return common[i * (columns + 1) + j]; };
  for (size_t i = rows; i-- > 0;)
    for (size_t j = columns; j-- > 0;)
      at(i, j) =
          before[head + i] == after[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  std::vector<DiffLine> out;
  for (size_t i = 0; i < head; ++i) out.push_back({' ', before[i]});
  for (size_t i = 0, j = 0; i < rows || j < columns;) {
    const bool is_same = i < rows && j < columns && before[head + i] == after[head + j];
    if (is_same) {
      out.push_back({' ', before[head + i]});
      ++i, ++j;
    } else if (i < rows && (j == columns || at(i + 1, j) >= at(i, j + 1))) {
      out.push_back({'-', before[head + i++]});
    } else {
      out.push_back({'+', after[head + j++]});
    }
  }
  for (size_t i = n - tail; i < n; ++i) out.push_back({' ', before[i]});
  return out;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after, size_t context) {
  if (before == after) return "";
  const std::vector<DiffLine> lines = compared(lines_of(before), lines_of(after));
  const auto is_near = [&](size_t i) {
    const size_t begin = i - std::min(i, context), end = std::min(lines.size(), i + context + 1);
    return std::any_of(lines.begin() + static_cast<ptrdiff_t>(begin),
                       lines.begin() + static_cast<ptrdiff_t>(end),
                       [](const DiffLine& line) { return line.sign != ' '; });
  };
  std::string out;
  bool skips = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool shown = is_near(i);
    if (!shown && !skips) out += "  …\n";
    if (shown) out += std::string(1, lines[i].sign) + " " + std::string(lines[i].text) + "\n";
    skips = !shown;
  }
  return out;
}

}  // namespace quern
