#include "repl/pixels/terminal_pixels.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "repl/command_files.h"
#include "repl/editor/terminal.h"
#include "repl/pixels/kitty.h"
#include "repl/pixels/sixel.h"

namespace quern {

namespace {

enum class Form : unsigned char { Characters, Sixel, Kitty };

bool has_value(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

/// Kitty itself, seen by what it sets. Inside of tmux or screen these are of the terminal around them, which does not
/// get what they do not know.
bool is_inside_kitty() {
  const char* name = std::getenv("TERM");
  const std::string_view terminal = name ? name : "";
  const bool is_multiplexed =
      terminal.starts_with("tmux") || terminal.starts_with("screen") || has_value("TMUX");
  return terminal == "xterm-kitty" || (has_value("KITTY_WINDOW_ID") && !is_multiplexed);
}

Form form_for(std::string_view pictures, const editor::Graphics& graphics) {
  if (pictures == "kitty") return Form::Kitty;
  if (pictures == "sixel") return Form::Sixel;
  if (graphics.has_kitty || is_inside_kitty()) return Form::Kitty;
  return graphics.has_sixel ? Form::Sixel : Form::Characters;
}

/// As much as the terminal shows at once, with the prompt.
picture::Room room_of(const TerminalSize& size, const editor::Graphics& graphics) {
  // Of characters whose size is not known; words in charts are as large as characters of this height.
  constexpr int kCellWidth = 8, kCellHeight = 16;
  // What xterm draws of sixels at the most.
  constexpr int kMostPixels = 1000;
  const bool is_known = graphics.cell_width > 0 && graphics.cell_height > 0;
  const int width = is_known ? graphics.cell_width : kCellWidth,
            height = is_known ? graphics.cell_height : kCellHeight;
  return {.width = std::min(kMostPixels, size.columns * width),
          .height = std::min(kMostPixels, rows_beside_prompt(size.rows) * height),
          .scale = static_cast<double>(height) / kCellHeight,
          .paper = graphics.is_dark ? picture::Paper::Dark : picture::Paper::Light};
}

Result<std::string> pixels_in(Form form, const picture::Raster& raster) {
  if (form == Form::Sixel) return picture::to_sixel(raster);
  const auto png = picture::to_png(raster);
  if (!png) return png.error();
  return picture::to_kitty(*png);
}

}  // namespace

int rows_beside_prompt(int rows) {
  constexpr int kRowsOfThePrompt = 4, kLeastRows = 4;
  return std::max(kLeastRows, rows - kRowsOfThePrompt);
}

std::string terminal_pixels(std::string_view pictures, const picture::Picture& picture) {
  const auto size = terminal_size(stdout);
  if (pictures == "blocks" || !size) return "";
  std::fflush(stdout);
  const auto graphics = editor::graphics_of_terminal();
  const Form form = graphics ? form_for(pictures, *graphics) : Form::Characters;
  if (form == Form::Characters) return "";
  const auto raster = picture::to_raster(picture, room_of(*size, *graphics));
  // Without Cairo there are characters still.
  const auto pixels = raster ? pixels_in(form, *raster) : Result<std::string>(raster.error());
  return pixels ? *pixels + "\n" : "";
}

}  // namespace quern
