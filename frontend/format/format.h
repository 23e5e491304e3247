#pragma once
// The formatter: one canonical layout of source texts. It changes only white space, and redundant commas and
// semicolons: comments, blank lines (one of several), the version header and the metadata stay.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/source.h"
#include "ir/base/result.h"

namespace quern {

/// Of the longest line, as of the comments of the library and of docs/.
constexpr int kFormatWidth = 120;

/// Lines from `first` to `last`, inclusive, counted from 1.
struct LineRange {
  uint32_t first, last;
};

/// The text in its canonical layout; with `lines`, only the declarations that touch them. Declarations that
/// do not parse stay unchanged, as does a text with an unscannable part. Line ends are those of the source,
/// LF if it mixes several. A failure is a bug: the result would have another meaning.
Result<std::string> format(std::string_view source, std::optional<LineRange> lines = std::nullopt);

struct FormatEdit {
  Range range;  ///< of the old text
  std::string text;
  friend bool operator==(const FormatEdit&, const FormatEdit&) = default;
};

/// The edits that turn `from` into `to`, which differ only by formatting: minimal edits of the blanks between
/// tokens, in order.
std::vector<FormatEdit> format_edits(std::string_view from, std::string_view to);

}  // namespace quern
