#pragma once
// What stands on the terminal from the prompt on, and how to make something else of it with few bytes.

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
  Ghost,    ///< how an earlier input goes on
  Hint,
  Strong,  ///< of a hint: the parameter at the cursor
  Menu,
  MenuDetail,
  MenuSelected,
  Match,  ///< of a search
};

enum class Colours : uint8_t { None, Sixteen };
/// The attributes of a style, an escape sequence that states all of them.
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

/// Puts text into rows of some width.
class FrameWriter {
 public:
  explicit FrameWriter(size_t width) : width_(width) { frame_.rows.emplace_back(); }
  /// Text without line ends; what does not fit goes on in the next row.
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

  /// The bytes that make `next` of what is shown. It has at most `height` rows.
  std::string show(Frame next);
  /// The cursor is at the beginning of a row, and what stood there before is somebody else's.
  void forget() { shown_ = {}; }
  /// The bytes that take away what is shown and leave the cursor where it began.
  std::string take_away();
  /// The terminal has another size now: the bytes that take away what is left of what was shown there.
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
