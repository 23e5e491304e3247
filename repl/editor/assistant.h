#pragma once
// The interface between the editor and the language, in terms of texts and offsets only.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/editor/view.h"

namespace quern::editor {

struct Completion {
  std::string label;     ///< in the menu
  std::string inserted;  ///< replaces the text that is completed
  std::string detail;    ///< a type, a signature
};
struct Completions {
  size_t begin = 0, end = 0;  ///< the text that is completed
  std::vector<Completion> items{};
};

class Assistant {
 public:
  virtual ~Assistant() = default;
  /// Whether more lines belong to an input (repl/input.h).
  virtual bool needs_more(std::string_view text, bool blank_line) = 0;
  /// In the order of the text; the brackets at `cursor` are highlighted.
  virtual std::vector<StyledRange> styles(std::string_view text, size_t cursor) = 0;
  virtual Completions complete(std::string_view text, size_t cursor) = 0;
  /// A few lines of documentation for a completion of the latest answer.
  virtual std::vector<std::string> documentation(size_t item) = 0;
  /// The call at the cursor and the parameter expected there: a few lines.
  virtual std::vector<StyledLine> hint(std::string_view text, size_t cursor) = 0;
};

}  // namespace quern::editor
