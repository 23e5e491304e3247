#pragma once
// A terminal that is not ours (libvterm): what bytes look like on it.

#include <utf8proc.h>
#include <vterm.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "repl/editor/cells.h"

namespace quern::editor {

class Emulator {
 public:
  Emulator(int columns, int rows) { start(columns, rows); }

  void feed(std::string_view bytes) { vterm_input_write(terminal_.get(), bytes.data(), bytes.size()); }
  /// Rows that are too long by then are cut or, as most terminals of today do, go on in the next row. The cursor stays
  /// where it is in its row, and what does not fit goes off at the top.
  void resize(int columns, int rows, bool reflows) {
    std::vector<std::string> lines;
    int cursor_line = 0, column = cursor_column();
    for (int i = 0; i < rows_; ++i) {
      std::vector<std::string> parts = cut(row(i), columns, reflows);
      if (i == cursor_row()) {
        cursor_line = static_cast<int>(lines.size());
        if (reflows) cursor_line += column / columns;
        column = reflows ? column % columns : std::min(column, columns - 1);
        while (static_cast<int>(lines.size() + parts.size()) <= cursor_line) parts.emplace_back();
      }
      std::ranges::move(parts, std::back_inserter(lines));
    }
    const int dropped = std::max(0, cursor_line - rows + 1);
    start(columns, rows);
    for (int i = 0; i < rows && i + dropped < static_cast<int>(lines.size()); ++i)
      feed((i > 0 ? "\r\n" : "") + lines[static_cast<size_t>(i) + static_cast<size_t>(dropped)]);
    feed("\x1b[" + std::to_string(cursor_line - dropped + 1) + ";" + std::to_string(column + 1) + "H");
  }

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  int cursor_row() const { return cursor().row; }
  int cursor_column() const { return cursor().col; }

  /// A row without the blanks at its end.
  std::string row(int number) const {
    std::string text;
    size_t used = 0;
    for (int column = 0; column < columns_;) {
      VTermScreenCell cell;
      vterm_screen_get_cell(screen_, {number, column}, &cell);
      if (cell.chars[0] == 0 || cell.chars[0] == ' ') {
        text += ' ';
      } else {
        for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i] != 0; ++i) append(text, cell.chars[i]);
        used = text.size();
      }
      column += cell.width > 0 ? cell.width : 1;
    }
    text.resize(used);
    return text;
  }
  /// Of a character, as 0xrrggbb, and of what is behind it.
  struct Colours {
    uint32_t front = 0, behind = 0;
    friend bool operator==(const Colours&, const Colours&) = default;
  };
  Colours colours(int row, int column) const {
    VTermScreenCell cell;
    vterm_screen_get_cell(screen_, {row, column}, &cell);
    const auto of = [this](VTermColor colour) {
      vterm_screen_convert_color_to_rgb(screen_, &colour);
      return static_cast<uint32_t>(colour.rgb.red << 16 | colour.rgb.green << 8 | colour.rgb.blue);
    };
    return {of(cell.fg), of(cell.bg)};
  }

  /// The rows up to the last that is not blank.
  std::string text() const {
    std::string all;
    size_t used = 0;
    for (int i = 0; i < rows_; ++i) {
      all += row(i);
      if (!all.empty() && all.back() != '\n') used = all.size();
      all += '\n';
    }
    all.resize(used);
    return all;
  }

 private:
  struct Free {
    void operator()(VTerm* terminal) const { vterm_free(terminal); }
  };

  void start(int columns, int rows) {
    terminal_.reset(vterm_new(rows, columns));
    columns_ = columns;
    rows_ = rows;
    vterm_set_utf8(terminal_.get(), 1);
    screen_ = vterm_obtain_screen(terminal_.get());
    vterm_screen_reset(screen_, 1);
  }
  // A row in parts that fit.
  static std::vector<std::string> cut(std::string_view row, int columns, bool reflows) {
    std::vector<std::string> parts(1);
    int used = 0;
    for (size_t at = 0; at < row.size();) {
      const size_t end = next_cluster(row, at);
      const int cells = static_cast<int>(cells_of_cluster(row.substr(at, end - at)));
      if (used + cells > columns) {
        if (!reflows) break;
        parts.emplace_back();
        used = 0;
      }
      parts.back() += row.substr(at, end - at);
      used += cells;
      at = end;
    }
    return parts;
  }

  VTermPos cursor() const {
    VTermPos position;
    vterm_state_get_cursorpos(vterm_obtain_state(terminal_.get()), &position);
    return position;
  }
  static void append(std::string& text, uint32_t c) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
    text.append(bytes.begin(), bytes.begin() + count);
  }

  std::unique_ptr<VTerm, Free> terminal_;
  VTermScreen* screen_ = nullptr;
  int columns_ = 0, rows_ = 0;
};

}  // namespace quern::editor
