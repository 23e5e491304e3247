#pragma once
// The contents of the terminal from the prompt on, and updates of it with few bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::editor {

enum class Style : uint8_t {
  Plain,
  Prompt,
  Comment,
  Keyword,
  Number,
  String,
  Variable,
  Definition,
  Operator,
  Type,
  Field,
  Attribute,
  Dim,
  Bracket,  ///< the partner of the one at the cursor
  Wrong,    ///< a name that nothing declares, a bracket without a partner
  Ghost,    ///< the continuation of an earlier input
  Hint,
  Strong,  ///< of a hint: the parameter at the cursor
  Menu,
  MenuDetail,
  MenuSelected,
  Match,  ///< of a search
};

enum class Colours : uint8_t { None, Sixteen };
/// The escape sequence that sets all attributes of a style.
std::string_view escape_of(Style style, Colours colours);

struct Cell {
  std::string glyph{};  ///< empty: the right part of a wide one
  uint8_t cells = 1;    ///< that the glyph takes; 0 for the right part
  Style style = Style::Plain;
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// A picture of the rows from the prompt on.
struct Frame {
  std::vector<std::vector<Cell>> rows;
  size_t row = 0, column = 0;  ///< of the cursor
};

/// Lays out text in rows of a fixed width.
class FrameWriter {
 public:
  explicit FrameWriter(size_t width) : width_(width) { frame_.rows.emplace_back(); }
  /// Text without line ends; the overflow continues in the next row.
  void put(std::string_view text, Style style);
  void new_row() { frame_.rows.emplace_back(); }
  size_t row() const { return frame_.rows.size() - 1; }
  size_t column() const { return frame_.rows.back().size(); }
  size_t left() const { return width_ - column(); }
  Frame& frame() { return frame_; }

 private:
  size_t width_;
  Frame frame_;
};

class Screen {
 public:
  Screen(size_t width, size_t height, Colours colours) : width_(width), height_(height), colours_(colours) {}

  size_t width() const { return width_; }
  size_t height() const { return height_; }

  /// The bytes that update the screen to `next`, which has at most `height` rows.
  std::string show(Frame next);
  /// The cursor is at the beginning of a row after other output.
  void forget() { shown_ = {}; }
  /// The bytes that erase the contents and move the cursor back to their begin.
  std::string take_away();
  /// The terminal was resized: the bytes that erase the remains of the contents.
  std::string resize(size_t width, size_t height);

 private:
  void move_to(std::string& out, size_t row, size_t column);
  void set_style(std::string& out, Style style);
  void write_row(std::string& out, const std::vector<Cell>& old, const std::vector<Cell>& row, size_t number);

  size_t width_, height_;
  Colours colours_;
  Frame shown_;
  size_t row_ = 0, column_ = 0;  ///< where the cursor is while bytes are made
  Style style_ = Style::Plain;
};

}  // namespace quern::editor
