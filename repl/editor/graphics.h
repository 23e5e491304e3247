#pragma once
// What a terminal can draw beside characters: how it is asked, and what it answers.

#include <string>
#include <string_view>

namespace quern::editor {

struct Graphics {
  bool has_kitty = false, has_sixel = false;
  int cell_width = 0, cell_height = 0;  ///< of a character, in pixels; 0 where they are not known
  bool is_dark = false;                 ///< what is behind characters, as far as it is known
};

/// The questions: kitty's of its protocol, xterm's of the colour behind characters and of their size, and last Primary
/// Device Attributes, which every terminal answers. (Answers come in the order of the questions.)
std::string_view graphics_question();
/// Whether a terminal of this name (TERM) may be asked: some show what they do not know.
bool may_be_asked(std::string_view terminal);

/// Answers among what else comes from a terminal.
struct GraphicsAnswer {
  Graphics graphics;
  bool is_whole = false;  ///< whether the last one is there
  std::string rest{};     ///< what was typed, and what of an answer may come still
};
GraphicsAnswer graphics_answer(std::string_view bytes);

}  // namespace quern::editor
