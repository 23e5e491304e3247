#include "repl/editor/buffer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "repl/editor/cells.h"

namespace quern::editor {

namespace {

constexpr size_t kMostKilled = 60;
constexpr size_t kMostEdits = 10000;

// Letters, digits, the other characters of names, and everything outside ASCII.
bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || byte >= 0x80;
}
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

// Letters that are typed one after the other, and characters that are erased so, are one step of undoing; a blank
// begins another.
void EditBuffer::apply(size_t begin, size_t end, std::string_view text, Run run) {
  if (begin == end && text.empty()) return;
  std::string removed = text_.substr(begin, end - begin);
  text_.replace(begin, end - begin, text);
  undone_.clear();
  Edit* last = done_.empty() ? nullptr : &done_.back();
  const bool goes_on = last && run_ == run;
  if (goes_on && run == Run::Typing && removed.empty() && last->removed.empty() &&
      last->at + last->inserted.size() == begin && !is_space(text[0])) {
    last->inserted += text;
  } else if (goes_on && run == Run::Erasing && last->inserted.empty() && end == last->at) {
    last->removed.insert(0, removed);
    last->at = begin;
  } else if (goes_on && run == Run::Erasing && last->inserted.empty() && begin == last->at) {
    last->removed += removed;
  } else {
    if (done_.size() == kMostEdits) done_.erase(done_.begin(), done_.begin() + kMostEdits / 2);
    done_.push_back({begin, std::move(removed), std::string(text), cursor_});
  }
  cursor_ = begin + text.size();
  run_ = run;
}

void EditBuffer::reset(std::string_view text) {
  text_ = text;
  cursor_ = text_.size();
  done_.clear();
  undone_.clear();
  run_ = Run::None;
}

void EditBuffer::replace_all(std::string_view text) {
  if (text == text_) {
    moved(text_.size());
    return;
  }
  apply(0, text_.size(), text, Run::None);
}

void EditBuffer::insert(std::string_view text) { apply(cursor_, cursor_, text, Run::Typing); }

void EditBuffer::replace(size_t begin, size_t end, std::string_view text) {
  apply(begin, end, text, Run::None);
}

void EditBuffer::end_run() { run_ = Run::None; }

// --- places

size_t EditBuffer::line_begin(size_t at) const {
  if (at == 0) return 0;
  const size_t found = text_.rfind('\n', at - 1);
  return found == std::string::npos ? 0 : found + 1;
}

size_t EditBuffer::line_end(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }

size_t EditBuffer::word_left(size_t at) const {
  while (at > 0 && !is_word(text_[at - 1])) --at;
  while (at > 0 && is_word(text_[at - 1])) --at;
  return at;
}

size_t EditBuffer::word_right(size_t at) const {
  while (at < text_.size() && !is_word(text_[at])) ++at;
  while (at < text_.size() && is_word(text_[at])) ++at;
  return at;
}

size_t EditBuffer::column_of(size_t at) const {
  const size_t begin = line_begin(at);
  return cells_of(std::string_view(text_).substr(begin, at - begin));
}

size_t EditBuffer::at_column(size_t begin, size_t column) const {
  const std::string_view line = std::string_view(text_).substr(0, line_end(begin));
  size_t at = begin, cells = 0;
  while (at < line.size()) {
    const size_t end = next_cluster(line, at);
    cells += std::max<size_t>(1, cells_of_cluster(line.substr(at, end - at)));
    if (cells > column) break;
    at = end;
  }
  return at;
}

// --- movements

bool EditBuffer::moved(size_t to) {
  run_ = Run::None;
  return std::exchange(cursor_, to) != to;
}

bool EditBuffer::move_to(size_t offset) { return moved(std::min(offset, text_.size())); }
bool EditBuffer::move_left() { return moved(previous_cluster(text_, cursor_)); }
bool EditBuffer::move_right() { return moved(next_cluster(text_, cursor_)); }
bool EditBuffer::move_word_left() { return moved(word_left(cursor_)); }
bool EditBuffer::move_word_right() { return moved(word_right(cursor_)); }
bool EditBuffer::move_line_begin() { return moved(line_begin(cursor_)); }
bool EditBuffer::move_line_end() { return moved(line_end(cursor_)); }

bool EditBuffer::move_up() {
  const size_t begin = line_begin(cursor_);
  if (begin == 0) return false;
  if (run_ != Run::Vertical) column_ = column_of(cursor_);
  cursor_ = at_column(line_begin(begin - 1), column_);
  run_ = Run::Vertical;
  return true;
}

bool EditBuffer::move_down() {
  const size_t end = line_end(cursor_);
  if (end == text_.size()) return false;
  if (run_ != Run::Vertical) column_ = column_of(cursor_);
  cursor_ = at_column(end + 1, column_);
  run_ = Run::Vertical;
  return true;
}

// --- erasing

void EditBuffer::erase_left() { apply(previous_cluster(text_, cursor_), cursor_, "", Run::Erasing); }
void EditBuffer::erase_right() { apply(cursor_, next_cluster(text_, cursor_), "", Run::Erasing); }

void EditBuffer::kill(size_t begin, size_t end, Direction direction) {
  if (begin == end) return;
  const std::string killed = text_.substr(begin, end - begin);
  const bool goes_on = run_ == Run::Kill && !killed_.empty();
  if (!goes_on) {
    killed_.emplace_front();
    if (killed_.size() > kMostKilled) killed_.pop_back();
  }
  killed_.front().insert(direction == Direction::Before ? 0 : killed_.front().size(), killed);
  apply(begin, end, "", Run::Kill);
}

void EditBuffer::kill_to_line_end() {
  const size_t end = line_end(cursor_);
  // At the end of a line that is its end.
  kill(cursor_, end == cursor_ ? next_cluster(text_, cursor_) : end, Direction::After);
}
void EditBuffer::kill_to_line_begin() { kill(line_begin(cursor_), cursor_, Direction::Before); }
void EditBuffer::kill_word_left() { kill(word_left(cursor_), cursor_, Direction::Before); }
void EditBuffer::kill_word_right() { kill(cursor_, word_right(cursor_), Direction::After); }
void EditBuffer::kill_blank_word_left() {
  size_t begin = cursor_;
  while (begin > 0 && is_space(text_[begin - 1])) --begin;
  while (begin > 0 && !is_space(text_[begin - 1])) --begin;
  kill(begin, cursor_, Direction::Before);
}

void EditBuffer::yank() {
  if (killed_.empty()) return;
  yanked_ = 0;
  yank_begin_ = cursor_;
  apply(cursor_, cursor_, killed_[0], Run::Yank);
}

void EditBuffer::yank_earlier() {
  if (run_ != Run::Yank) return;
  const size_t end = yank_begin_ + killed_[yanked_].size();
  yanked_ = (yanked_ + 1) % killed_.size();
  apply(yank_begin_, end, killed_[yanked_], Run::Yank);
}

// --- changes

void EditBuffer::transpose() {
  const size_t begin = line_begin(cursor_), end = line_end(cursor_);
  // At a line's end the two before it.
  const size_t middle = cursor_ == end ? previous_cluster(text_, cursor_) : cursor_;
  if (middle <= begin || middle >= end) return;
  const size_t first = previous_cluster(text_, middle), last = next_cluster(text_, middle);
  if (first < begin) return;
  replace(first, last, text_.substr(middle, last - middle) + text_.substr(first, middle - first));
}

void EditBuffer::change_case(Case how) {
  const size_t end = word_right(cursor_);
  std::string word = text_.substr(cursor_, end - cursor_);
  bool is_first = true;
  for (char& c : word) {
    if (static_cast<unsigned char>(c) >= 0x80 || !is_word(c)) continue;
    const bool upper = how == Case::Upper || (how == Case::Capital && is_first);
    c = static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
    is_first = false;
  }
  if (word == text_.substr(cursor_, end - cursor_))
    moved(end);
  else
    replace(cursor_, end, word);
}

bool EditBuffer::undo() {
  if (done_.empty()) return false;
  Edit edit = std::move(done_.back());
  done_.pop_back();
  text_.replace(edit.at, edit.inserted.size(), edit.removed);
  std::swap(cursor_, edit.cursor);
  run_ = Run::None;
  undone_.push_back(std::move(edit));
  return true;
}

bool EditBuffer::redo() {
  if (undone_.empty()) return false;
  Edit edit = std::move(undone_.back());
  undone_.pop_back();
  text_.replace(edit.at, edit.removed.size(), edit.inserted);
  std::swap(cursor_, edit.cursor);
  run_ = Run::None;
  done_.push_back(std::move(edit));
  return true;
}

}  // namespace quern::editor
