// The menu of completions.

#include <fmt/format.h>

#include <algorithm>

#include "repl/editor/cells.h"
#include "repl/editor/editor.h"

namespace quern::editor {

namespace {

constexpr size_t kIndentCells = 2;
constexpr size_t kMostDocumentation = 8;

// What all of them begin with.
std::string_view common_beginning(const std::vector<Completion>& items) {
  std::string_view common = items.front().inserted;
  for (const Completion& item : items) {
    const auto [a, b] = std::ranges::mismatch(common, item.inserted);
    common = common.substr(0, static_cast<size_t>(a - common.begin()));
  }
  // Not half of a character.
  while (!common.empty() && (static_cast<unsigned char>(common.back()) & 0x80) != 0) common.remove_suffix(1);
  return common;
}

}  // namespace

void Editor::complete() {
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  const std::string_view line = std::string_view(text()).substr(begin, cursor - begin);
  if (line.find_first_not_of(" \t") == std::string_view::npos && !text().empty())
    buffer_.insert(std::string(kIndentCells - line.size() % kIndentCells, ' '));
  else
    open_menu();
}

void Editor::complete_backward() {
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  const std::string_view line = std::string_view(text()).substr(begin, cursor - begin);
  if (line.size() >= kIndentCells && line.find_first_not_of(' ') == std::string_view::npos)
    buffer_.replace(cursor - kIndentCells, cursor, "");
}

void Editor::open_menu() {
  Completions list = assistant_.complete(text(), buffer_.cursor());
  if (list.items.empty()) return;
  if (list.items.size() == 1) {
    menu_ = Menu{std::move(list)};
    accept_completion(menu_->list.items[0]);
    return;
  }
  const std::string common(common_beginning(list.items));
  const std::string typed = text().substr(list.begin, list.end - list.begin);
  if (common.size() > typed.size() && common.starts_with(typed)) {
    buffer_.replace(list.begin, list.end, common);
    list = assistant_.complete(text(), buffer_.cursor());
    if (list.items.empty()) return;
  }
  menu_ = Menu{std::move(list)};
}

// After the text changed under it.
void Editor::narrow_menu() {
  const size_t begin = menu_->list.begin;
  Completions list = assistant_.complete(text(), buffer_.cursor());
  if (list.items.empty() || list.begin != begin || list.begin == list.end)
    menu_.reset();
  else
    menu_ = Menu{std::move(list)};
}

void Editor::accept_completion(const Completion& item) {
  const std::string inserted = item.inserted;
  buffer_.replace(menu_->list.begin, menu_->list.end, inserted);
  menu_.reset();
}

void Editor::show_documentation() { explains_ = !explains_; }

bool Editor::take_in_menu(const Key& key) {
  const size_t count = menu_->list.items.size();
  const std::string name = to_string(key);
  auto move = [&](size_t by) { menu_->selected = (menu_->selected + by) % count; };
  if (name == "Tab" || name == "Down" || name == "Ctrl-N") {
    move(1);
  } else if (name == "Shift-Tab" || name == "Up" || name == "Ctrl-P") {
    move(count - 1);
  } else if (name == "PageDown" || name == "PageUp") {
    const size_t page = std::min<size_t>(8, count - 1);
    menu_->selected = name == "PageDown" ? std::min(menu_->selected + page, count - 1)
                                         : menu_->selected - std::min(menu_->selected, page);
  } else if (name == "Enter" || name == "Right") {
    accept_completion(menu_->list.items[menu_->selected]);
  } else if (name == "Escape" || name == "Ctrl-G") {
    menu_.reset();
  } else if (name == "F1" || name == "Alt-h") {
    show_documentation();
  } else if (key.code == KeyCode::Backspace && !key.alt && !key.ctrl) {
    buffer_.erase_left();
    narrow_menu();
  } else if (key.code == KeyCode::Text && !key.ctrl && !key.alt) {
    insert(key.text);
    narrow_menu();
  } else {
    menu_.reset();
    return false;
  }
  return true;
}

std::vector<StyledLine> Editor::menu_lines(size_t rows) {
  const std::vector<Completion>& items = menu_->list.items;
  const size_t shown = std::min(rows, items.size());
  // A taller terminal shows more of them than were below the first.
  menu_->top = std::min(menu_->top, items.size() - shown);
  if (menu_->selected < menu_->top) menu_->top = menu_->selected;
  if (menu_->selected >= menu_->top + shown) menu_->top = menu_->selected - shown + 1;
  size_t width = 0;
  for (size_t i = menu_->top; i < menu_->top + shown; ++i) width = std::max(width, cells_of(items[i].label));
  width = std::min(width, screen_.width() / 2);
  std::vector<StyledLine> lines;
  for (size_t i = menu_->top; i < menu_->top + shown; ++i) {
    const bool is_selected = i == menu_->selected;
    std::string label = cut_to_cells(items[i].label, width);
    label.append(width - cells_of(label), ' ');
    lines.push_back({{"    ", Style::Plain},
                     {" " + label + " ", is_selected ? Style::MenuSelected : Style::Menu},
                     {"  " + items[i].detail, Style::MenuDetail}});
  }
  if (shown < items.size())
    lines.push_back({{fmt::format("     {} of {}", menu_->selected + 1, items.size()), Style::Hint}});
  if (!explains_) return lines;
  size_t left = kMostDocumentation;
  for (const std::string& line : assistant_.documentation(menu_->selected)) {
    if (left-- == 0) break;
    lines.push_back({{"     " + line, Style::Hint}});
  }
  return lines;
}

}  // namespace quern::editor
