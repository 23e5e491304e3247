#pragma once
// The graphics capabilities of a terminal: queries and their answers.

#include <string>
#include <string_view>

namespace quern::editor {

struct Graphics {
  bool has_kitty = false, has_sixel = false;
  int cell_width = 0, cell_height = 0;  ///< of a character, in pixels; 0 where they are not known
  bool is_dark = false;                 ///< whether the background is dark, as far as it is known
};

/// The questions: kitty's of its protocol, xterm's of the colour behind characters and of their size, and last Primary
/// Device Attributes, which every terminal answers. (Answers come in the order of the questions.)
std::string_view graphics_question();
/// Whether a terminal of this name (TERM) may be queried: some display sequences that they do not know.
bool may_be_asked(std::string_view terminal);

/// Extracts answers from the bytes of a terminal.
struct GraphicsAnswer {
  Graphics graphics;
  bool is_whole = false;  ///< whether the last one has arrived
  std::string rest{};     ///< typed bytes, and the beginning of an incomplete answer
};
GraphicsAnswer graphics_answer(std::string_view bytes);

}  // namespace quern::editor
