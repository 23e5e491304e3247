#pragma once
// Texts with a cursor, `$0`, and with the ranges that an answer has to be marked: `[|…|]`. Each is tried with
// every end of line, behind characters of several bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "frontend/text/source.h"

namespace quern::ide {

struct MarkedRanges {
  std::string text;
  uint32_t cursor = 0;
  std::vector<Range> ranges;  ///< in the order of their begins
};

inline MarkedRanges with_ranges(const std::string& marked) {
  MarkedRanges found;
  std::vector<size_t> open;
  for (size_t i = 0; i < marked.size(); ++i) {
    const std::string_view rest = std::string_view(marked).substr(i);
    const auto at = static_cast<uint32_t>(found.text.size());
    if (rest.starts_with("$0")) {
      found.cursor = at;
      ++i;
    } else if (rest.starts_with("[|")) {
      open.push_back(found.ranges.size());
      found.ranges.push_back({at, at});
      ++i;
    } else if (rest.starts_with("|]")) {
      found.ranges[open.back()].end = at;
      open.pop_back();
      ++i;
    } else {
      found.text += marked[i];
    }
  }
  EXPECT_TRUE(open.empty()) << marked;
  return found;
}

/// The text with marks around ranges, which nest.
inline std::string with_marks(const std::string& text, const std::vector<Range>& ranges) {
  std::string shown;
  for (uint32_t i = 0; i <= text.size(); ++i) {
    for (const Range r : ranges)
      if (r.end == i) shown += "|]";
    for (const Range r : ranges)
      if (r.begin == i) shown += "[|";
    if (i < text.size()) shown += text[i];
  }
  return shown;
}

/// Calls `check` with the marked text as it is, and with other ends of lines behind a comment that is not ASCII.
inline void in_every_layout(const std::string& marked,
                            const std::function<void(const MarkedRanges&)>& check) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string lines = (end == "\n" ? "" : "/* 漢字 😀 */ // é\n") + marked;
    std::string text;
    for (const char c : lines) text += c == '\n' ? end : std::string(1, c);
    SCOPED_TRACE(text);
    check(with_ranges(text));
  }
}

}  // namespace quern::ide
