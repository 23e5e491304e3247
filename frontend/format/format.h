#pragma once
// The formatter: one canonical layout of source texts. Only blanks change, and commas and semicolons that
// mean nothing: comments, blank lines (one of several), the version header and the metadata stay.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/source.h"
#include "ir/base/result.h"

namespace quern {

constexpr int kFormatWidth = 100;

/// Lines from `first` to `last`, both in it, counted from 1.
struct LineRange {
  uint32_t first, last;
};

/// The text in its canonical layout; with `lines`, only the declarations that touch them. Declarations that
/// do not parse stay as they are, and so does a whole text of which a part cannot be read. Its line ends are
/// those of the source, LF where that has several. A failure is a bug: the result would mean something else.
Result<std::string> format(std::string_view source, std::optional<LineRange> lines = std::nullopt);

struct FormatEdit {
  Range range;  ///< of the old text
  std::string text;
  friend bool operator==(const FormatEdit&, const FormatEdit&) = default;
};

/// The edits that make one text of another that differs from it as formatting does: the smallest for the
/// blanks between two tokens each, in order.
std::vector<FormatEdit> format_edits(std::string_view from, std::string_view to);

}  // namespace quern
