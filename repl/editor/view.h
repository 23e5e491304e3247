#pragma once
// Renders an input: its lines after prompts, wrapped, as many as fit around the cursor, with hints below.

#include <string>
#include <string_view>
#include <vector>

#include "repl/editor/screen.h"

namespace quern::editor {

struct StyledText {
  std::string text;
  Style style = Style::Plain;
};
using StyledLine = std::vector<StyledText>;

/// A range of bytes with a style.
struct StyledRange {
  size_t begin, end;
  Style style;
};

struct Picture {
  std::string_view prompt, continuation;  ///< before the first line, before the others
  std::string_view text;
  size_t cursor = 0;
  std::vector<StyledRange> styles{};  ///< in the order of the text; of what they leave out Plain
  std::string_view ghost{};           ///< after the text: its suggested continuation
  std::vector<StyledLine> below{};    ///< each cut to one row
};

class View {
 public:
  /// `width` is at least 1. If not all rows fit into the height, those of the input take precedence.
  Frame frame(const Picture& picture, size_t width, size_t height);
  /// The next input begins at its top.
  void forget() { top_ = 0; }

 private:
  size_t top_ = 0;  ///< the first row that is shown of an input that is too tall
};

}  // namespace quern::editor
