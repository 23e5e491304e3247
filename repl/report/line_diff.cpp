#include "repl/report/line_diff.h"

#include <algorithm>
#include <vector>

#include "ide/alignment.h"

namespace quern {

namespace {

struct DiffLine {
  char sign;
  std::string_view text;
};

/// The table of the alignment is of the lines between what both begin with and end in.
std::vector<DiffLine> compared(const std::vector<std::string_view>& before,
                               const std::vector<std::string_view>& after) {
  const size_t n = before.size(), m = after.size();
  size_t head = 0, tail = 0;
  while (head < std::min(n, m) && before[head] == after[head]) ++head;
  while (tail < std::min(n, m) - head && before[n - 1 - tail] == after[m - 1 - tail]) ++tail;
  const auto agree = [&](size_t i, size_t j) { return before[head + i] == after[head + j]; };
  std::vector<DiffLine> out;
  for (size_t i = 0; i < head; ++i) out.push_back({' ', before[i]});
  for (const ide::AlignedLine& line : ide::aligned(n - head - tail, m - head - tail, {agree}).lines)
    out.push_back({line.sign, line.sign == '+' ? after[head + line.second] : before[head + line.first]});
  for (size_t i = n - tail; i < n; ++i) out.push_back({' ', before[i]});
  return out;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after, size_t context) {
  if (before == after) return "";
  const std::vector<DiffLine> lines = compared(ide::lines_of(before), ide::lines_of(after));
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
