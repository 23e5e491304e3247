#include "repl/editor/view.h"

#include <algorithm>

#include "repl/editor/cells.h"

namespace quern::editor {

namespace {

// A row of the wrapped input.
struct Row {
  size_t begin, end;  ///< bytes of the text
  bool has_prompt;
};

class Rows {
 public:
  Rows(const Picture& picture, size_t width) : picture_(picture), width_(width) {
    const std::string_view text = picture.text;
    for (size_t begin = 0;;) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const size_t prompt = std::min(cells_of(begin == 0 ? picture.prompt : picture.continuation), width - 1);
      if (is_plain(text.substr(begin, end - begin)))
        add_plain(begin, end, prompt);
      else
        add_any(begin, end, prompt);
      if (end == text.size()) break;
      begin = end + 1;
    }
  }

  const std::vector<Row>& all() const { return rows_; }

  // The row where a place is: behind a full row it is the next one.
  size_t row_of(size_t offset) const {
    const auto after = std::ranges::upper_bound(rows_, offset, {}, &Row::begin);
    return static_cast<size_t>(after - rows_.begin()) - 1;
  }

 private:
  // A row that is full to its last cell is followed by another one, maybe empty, for the cursor behind it.
  void add_plain(size_t begin, size_t end, size_t prompt) {
    size_t left = width_ - prompt;
    bool has_prompt = true;
    for (;; left = width_, has_prompt = false) {
      const size_t size = std::min(left, end - begin);
      rows_.push_back({begin, begin + size, has_prompt});
      begin += size;
      if (size < left) return;
    }
  }

  void add_any(size_t begin, size_t end, size_t prompt) {
    const std::string_view line = picture_.text.substr(0, end);
    size_t used = prompt;
    bool has_prompt = true;
    for (size_t at = begin; at < end;) {
      const size_t next = next_cluster(line, at);
      const size_t cells = std::max<size_t>(1, cells_of_cluster(line.substr(at, next - at)));
      if (used + cells > width_) {
        rows_.push_back({begin, at, has_prompt});
        begin = at;
        used = 0;
        has_prompt = false;
      }
      used += std::min(cells, width_);
      at = next;
    }
    rows_.push_back({begin, end, has_prompt});
    if (used >= width_) rows_.push_back({end, end, false});
  }

  const Picture& picture_;
  size_t width_;
  std::vector<Row> rows_;
};

// Puts the bytes of a row in their styles.
void put_text(FrameWriter& writer, const Picture& picture, const Row& row) {
  auto style = std::ranges::upper_bound(picture.styles, row.begin, {}, &StyledRange::end);
  for (size_t at = row.begin; at < row.end;) {
    while (style != picture.styles.end() && style->end <= at) ++style;
    const bool is_in = style != picture.styles.end() && style->begin <= at;
    size_t end = row.end;
    if (style != picture.styles.end()) end = std::min(end, is_in ? style->end : style->begin);
    // A style that ends inside a cluster applies to all of it.
    const std::string_view row_text = picture.text.substr(0, row.end);
    end = std::max(end, next_cluster(row_text, previous_cluster(row_text, end)));
    writer.put(picture.text.substr(at, end - at), is_in ? style->style : Style::Plain);
    at = end;
  }
}

// How far a text reaches that is put behind `column`: the first line of it, as much as fits into the row.
void put_ghost(FrameWriter& writer, std::string_view ghost) {
  const size_t line = std::min(ghost.find('\n'), ghost.size());
  std::string shown(ghost.substr(0, line));
  if (line < ghost.size()) shown += " …";
  // The last cell stays free: behind it the cursor would be in the next row.
  if (writer.left() > 1) writer.put(cut_to_cells(shown, writer.left() - 1), Style::Ghost);
}

void put_line(FrameWriter& writer, const StyledLine& line) {
  for (const StyledText& part : line) {
    const size_t left = writer.left();
    if (left == 0) return;
    writer.put(cut_to_cells(part.text, left), part.style);
  }
}

}  // namespace

Frame View::frame(const Picture& picture, size_t width, size_t height) {
  width = std::max<size_t>(width, 2);
  height = std::max<size_t>(height, 1);
  const Rows rows(picture, width);
  const size_t all = rows.all().size(), cursor = rows.row_of(picture.cursor);
  const size_t shown = std::min(all, height);
  top_ = std::min(top_, all - shown);
  if (cursor < top_) top_ = cursor;
  if (cursor >= top_ + shown) top_ = cursor - shown + 1;

  FrameWriter writer(width);
  size_t cursor_row = 0, cursor_column = 0;
  for (size_t i = top_; i < top_ + shown; ++i) {
    if (i > top_) writer.new_row();
    const Row& row = rows.all()[i];
    if (row.has_prompt) {
      const std::string_view prompt = row.begin == 0 ? picture.prompt : picture.continuation;
      writer.put(cut_to_cells(prompt, width - 1), Style::Prompt);
    }
    if (i == cursor) {
      cursor_row = writer.row();
      cursor_column = writer.column() + cells_of(picture.text.substr(row.begin, picture.cursor - row.begin));
    }
    put_text(writer, picture, row);
    if (i + 1 == all) put_ghost(writer, picture.ghost);
  }
  for (size_t i = 0; i < picture.below.size() && shown + i < height; ++i) {
    writer.new_row();
    put_line(writer, picture.below[i]);
  }
  Frame frame = std::move(writer.frame());
  frame.row = cursor_row;
  frame.column = std::min(cursor_column, width - 1);
  return frame;
}

}  // namespace quern::editor
