#include "repl/editor/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "repl/editor/cells.h"

namespace quern::editor {

namespace {

struct Look {
  std::string_view coloured, plain;
};

Look look_of(Style style) {
  switch (style) {
    case Style::Plain: return {"\x1b[0m", "\x1b[0m"};
    case Style::Prompt: return {"\x1b[0;1;36m", "\x1b[0;1m"};
    case Style::Comment: return {"\x1b[0;90m", "\x1b[0;2m"};
    case Style::Keyword: return {"\x1b[0;1;35m", "\x1b[0;1m"};
    case Style::Number: return {"\x1b[0;33m", "\x1b[0m"};
    case Style::String: return {"\x1b[0;32m", "\x1b[0m"};
    case Style::Variable: return {"\x1b[0m", "\x1b[0m"};
    case Style::Definition: return {"\x1b[0;34m", "\x1b[0m"};
    case Style::Operator: return {"\x1b[0;36m", "\x1b[0m"};
    case Style::Type: return {"\x1b[0;35m", "\x1b[0m"};
    case Style::Field: return {"\x1b[0;36m", "\x1b[0m"};
    case Style::Attribute: return {"\x1b[0;33m", "\x1b[0m"};
    case Style::Dim: return {"\x1b[0;32m", "\x1b[0m"};
    case Style::Bracket: return {"\x1b[0;1;4m", "\x1b[0;1;4m"};
    case Style::Wrong: return {"\x1b[0;31m", "\x1b[0;4m"};
    case Style::Ghost: return {"\x1b[0;90m", "\x1b[0;2m"};
    case Style::Hint: return {"\x1b[0;2m", "\x1b[0;2m"};
    case Style::Strong: return {"\x1b[0;1;33m", "\x1b[0;1m"};
    case Style::Menu: return {"\x1b[0m", "\x1b[0m"};
    case Style::MenuDetail: return {"\x1b[0;90m", "\x1b[0;2m"};
    case Style::MenuSelected: return {"\x1b[0;7m", "\x1b[0;7m"};
    case Style::Match: return {"\x1b[0;1;4;33m", "\x1b[0;1;4m"};
  }
  return {};
}

constexpr std::string_view kHideCursor = "\x1b[?25l", kShowCursor = "\x1b[?25h";
constexpr std::string_view kEraseBelow = "\x1b[J", kEraseRight = "\x1b[K";

// The first cell of a glyph that a cell is part of.
size_t glyph_begin(const std::vector<Cell>& row, size_t column) {
  while (column > 0 && column < row.size() && row[column].cells == 0) --column;
  return column;
}

}  // namespace

std::string_view escape_of(Style style, Colours colours) {
  const Look look = look_of(style);
  return colours == Colours::None ? look.plain : look.coloured;
}

void FrameWriter::put(std::string_view text, Style style) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = next_cluster(text, at);
    Glyph glyph = glyph_of(text.substr(at, end - at));
    at = end;
    if (glyph.cells > width_) glyph = {"?", 1};
    if (column() + glyph.cells > width_) new_row();
    std::vector<Cell>& row = frame_.rows.back();
    row.push_back({std::move(glyph.text), glyph.cells, style});
    for (size_t i = 1; i < glyph.cells; ++i) row.push_back({"", 0, style});
  }
}

void Screen::move_to(std::string& out, size_t row, size_t column) {
  auto step = [&](size_t by, char direction) {
    if (by == 1)
      fmt::format_to(std::back_inserter(out), "\x1b[{}", direction);
    else
      fmt::format_to(std::back_inserter(out), "\x1b[{}{}", by, direction);
  };
  if (row < row_) step(row_ - row, 'A');
  if (row > row_) {
    // Rows that are not there yet come by line feeds, which scroll; these leave no column.
    const size_t last = shown_.rows.empty() ? 0 : shown_.rows.size() - 1;
    if (row > last) {
      if (last > row_) step(last - row_, 'B');
      out += '\r';
      out.append(row - std::max(last, row_), '\n');
      column_ = 0;
    } else {
      step(row - row_, 'B');
    }
  }
  row_ = row;
  if (column == column_) return;
  if (column == 0)
    out += '\r';
  else
    fmt::format_to(std::back_inserter(out), "\x1b[{}G", column + 1);
  column_ = column;
}

void Screen::set_style(std::string& out, Style style) {
  if (style_ == style) return;
  const std::string_view before = escape_of(style_, colours_), now = escape_of(style, colours_);
  if (before != now) out += now;
  style_ = style;
}

void Screen::write_row(std::string& out, const std::vector<Cell>& old, const std::vector<Cell>& row,
                       size_t number) {
  const auto [a, b] = std::ranges::mismatch(old, row);
  if (a == old.end() && b == row.end()) return;
  size_t column = static_cast<size_t>(b - row.begin());
  column = std::min(glyph_begin(old, column), glyph_begin(row, column));
  // Equal cells at the end stay, where both rows are as long.
  size_t end = row.size();
  if (old.size() == row.size())
    while (end > column && old[end - 1] == row[end - 1]) --end;
  while (end < row.size() && row[end].cells == 0) ++end;
  move_to(out, number, column);
  bool is_sure = true;  // where the terminal's cursor is
  for (; column < end; ++column) {
    const Cell& cell = row[column];
    if (cell.cells == 0) continue;
    if (!is_sure) fmt::format_to(std::back_inserter(out), "\x1b[{}G", column + 1);
    set_style(out, cell.style);
    out += cell.glyph;
    is_sure = is_plain(cell.glyph);
  }
  column_ = is_sure && end < width_ ? end : SIZE_MAX;  // behind the last column terminals differ
  if (row.size() < old.size()) {
    set_style(out, Style::Plain);
    move_to(out, number, row.size());
    out += kEraseRight;
  }
}

std::string Screen::show(Frame next) {
  std::string out;
  row_ = shown_.row;
  column_ = shown_.column;
  style_ = Style::Plain;
  if (shown_.rows.empty()) {
    shown_.rows.emplace_back();
    out += kEraseBelow;
  }
  for (size_t i = 0; i < next.rows.size(); ++i) {
    const bool is_new = i >= shown_.rows.size();
    if (is_new) {
      move_to(out, i, 0);
      shown_.rows.emplace_back();
    }
    write_row(out, shown_.rows[i], next.rows[i], i);
  }
  set_style(out, Style::Plain);
  if (next.rows.size() < shown_.rows.size()) {
    move_to(out, next.rows.size(), 0);
    out += kEraseBelow;
  }
  move_to(out, next.row, next.column);
  shown_ = std::move(next);
  if (out.size() > 32) out = fmt::format("{}{}{}", kHideCursor, out, kShowCursor);
  return out;
}

std::string Screen::take_away() {
  std::string out;
  if (shown_.rows.empty()) return out;
  row_ = shown_.row;
  column_ = shown_.column;
  move_to(out, 0, 0);
  out += kEraseBelow;
  forget();
  return out;
}

// Most terminals break rows that have become too long; those above the cursor then take more rows than they did.
std::string Screen::resize(size_t width, size_t height) {
  size_t above = 0;
  const size_t new_width = std::max<size_t>(width, 1);
  for (size_t i = 0; i < shown_.row && i < shown_.rows.size(); ++i)
    above += std::max<size_t>(1, (shown_.rows[i].size() + new_width - 1) / new_width);
  above += shown_.column / new_width;
  above = std::min(above, std::max<size_t>(height, 1) - 1);
  width_ = width;
  height_ = height;
  forget();
  std::string out = "\r";
  if (above > 0) out += fmt::format("\x1b[{}A", above);
  return out + std::string(kEraseBelow);
}

}  // namespace quern::editor
