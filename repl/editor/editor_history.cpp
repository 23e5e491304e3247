// Earlier inputs: going through them, searching them, and how the present one may go on.

#include <algorithm>
#include <cctype>

#include "repl/editor/editor.h"

namespace quern::editor {

bool Editor::walk(bool backward) {
  if (!walk_) {
    if (!backward) return false;
    walk_ = Walk{text(), text().substr(0, buffer_.cursor()), history_.size()};
  }
  const auto found = backward ? history_.earlier(walk_->index, walk_->prefix, text())
                              : history_.later(walk_->index, walk_->prefix, text());
  if (found) {
    walk_->index = *found;
    buffer_.replace_all(history_.entry(*found));
    return true;
  }
  if (backward) return false;
  buffer_.replace_all(walk_->draft);
  walk_.reset();
  return true;
}

void Editor::earlier_input() { walk(true); }
void Editor::later_input() { walk(false); }

void Editor::up() {
  if (walk_ || !buffer_.move_up()) walk(true);
}
void Editor::down() {
  if (walk_)
    walk(false);
  else
    buffer_.move_down();
}

// --- search

void Editor::search_backward() { search(false, true); }
void Editor::search_forward() { search(false, false); }

void Editor::search(bool is_next, bool backward) {
  if (!search_)
    search_ = Search{.words = "", .index = history_.size(), .text = text(), .cursor = buffer_.cursor()};
  find(backward, is_next);
}

// `is_next`: not the entry that is shown, else that one too.
void Editor::find(bool backward, bool is_next) {
  const size_t here = search_->index;
  std::optional<History::Match> found;
  if (search_->words.empty() && !is_next) {
    search_->is_found = true;
    return;
  }
  if (backward)
    found = history_.containing_before(is_next ? here : here + 1, search_->words);
  else
    found = history_.containing_after(here, search_->words);
  search_->is_found = found.has_value();
  if (found) search_->index = found->index;
}

bool Editor::take_in_search(const Key& key) {
  const std::string name = to_string(key);
  if (name == "Ctrl-R" || name == "Ctrl-S" || name == "Up" || name == "Down") {
    search(true, name == "Ctrl-R" || name == "Up");
    return true;
  }
  if (name == "Ctrl-G" || name == "Escape" || name == "Ctrl-C") {
    search_.reset();
    return true;
  }
  if (name == "Backspace") {
    if (!search_->words.empty()) {
      size_t size = search_->words.size() - 1;
      while (size > 0 && (static_cast<unsigned char>(search_->words[size]) & 0xc0) == 0x80) --size;
      search_->words.resize(size);
    }
    search_->index = history_.size();
    find(true, false);
    return true;
  }
  const bool is_text = key.code == KeyCode::Text && !key.ctrl && !key.alt;
  if (is_text || key.code == KeyCode::Paste) {
    search_->words += key.text;
    find(true, false);
    return true;
  }
  // Any other key takes what was found, and is what it is.
  if (search_->index < history_.size()) {
    const auto match = history_.containing_before(search_->index + 1, search_->words);
    buffer_.replace_all(history_.entry(search_->index));
    if (match && match->index == search_->index) buffer_.move_to(match->offset);
  }
  search_.reset();
  return false;
}

// --- ghosts

std::string_view Editor::ghost() const {
  if (menu_ || search_ || buffer_.cursor() != text().size()) return {};
  return history_.continuation(text());
}

bool Editor::take_ghost(bool whole) {
  const std::string rest(ghost());
  if (rest.empty()) return false;
  size_t end = rest.size();
  if (!whole) {
    auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    end = 0;
    while (end < rest.size() && !is_name(rest[end])) ++end;
    while (end < rest.size() && is_name(rest[end])) ++end;
  }
  buffer_.end_run();
  buffer_.insert(rest.substr(0, end));
  return true;
}

}  // namespace quern::editor
