#include "repl/editor/editor.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "repl/editor/cells.h"

namespace quern::editor {

namespace {

constexpr std::string_view kPrompt = ">>> ", kContinuation = "... ";
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";
constexpr size_t kIndent = 2;
// Of longer inputs (a paste) names are not looked up at each key.
constexpr size_t kMostStyled = 1 << 16;

// The binding of a key or chord; whether one begins with it.
struct Found {
  const Binding* binding = nullptr;
  bool begins_chord = false;
};

Found find_binding(std::string_view chord) {
  Found found;
  for (const Binding& b : bindings()) {
    for (std::string_view rest = b.keys; !rest.empty();) {
      const size_t end = std::min(rest.find(", "), rest.size());
      const std::string_view keys = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 2, rest.size()));
      if (keys == chord) found.binding = &b;
      if (keys.size() > chord.size() && keys.starts_with(chord) && keys[chord.size()] == ' ')
        found.begins_chord = true;
    }
  }
  return found;
}

// How many brackets of a line stay open.
int open_brackets(std::string_view line) {
  int open = 0;
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (line.substr(i).starts_with("//")) {
      break;
    } else if (std::string_view("([{").find(c) != std::string_view::npos) {
      ++open;
    } else if (std::string_view(")]}").find(c) != std::string_view::npos) {
      open = std::max(open - 1, 0);
    }
  }
  return open;
}

// Line ends of all kinds become LF, the last one goes. Of text that was copied with its prompts these go, and the
// output between.
std::string pasted_text(std::string_view pasted) {
  std::string text;
  for (size_t i = 0; i < pasted.size(); ++i) {
    if (pasted[i] != '\r')
      text += pasted[i];
    else if (!pasted.substr(i + 1).starts_with('\n'))
      text += '\n';
  }
  if (text.ends_with('\n')) text.pop_back();
  if (!text.starts_with(kPrompt)) return text;
  std::string inputs;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with(kPrompt) && !line.starts_with(kContinuation)) continue;
    if (!inputs.empty()) inputs += '\n';
    inputs += line.substr(kPrompt.size());
  }
  return inputs;
}

}  // namespace

Editor::Editor(Assistant& assistant, History& history, size_t width, size_t height, Colours colours)
    : assistant_(assistant), history_(history), screen_(width, height, colours) {}

void Editor::begin(std::string_view text) {
  buffer_.reset(text);
  view_.forget();
  screen_.forget();
  menu_.reset();
  search_.reset();
  walk_.reset();
  chord_.clear();
}

Ending Editor::take(const Key& key) {
  ending_ = Ending::None;
  if (search_ && take_in_search(key)) return ending_;
  if (menu_ && take_in_menu(key)) return ending_;
  if (key.code == KeyCode::Paste) {
    chord_.clear();
    paste(key.text);
    return ending_;
  }
  const std::string chord = chord_.empty() ? to_string(key) : chord_ + " " + to_string(key);
  const bool goes_on = !chord_.empty();
  chord_.clear();
  const Found found = find_binding(chord);
  if (found.binding) {
    const auto run = found.binding->run;
    const bool walks = run == &Editor::up || run == &Editor::down || run == &Editor::earlier_input ||
                       run == &Editor::later_input;
    if (!walks) walk_.reset();
    (this->*run)();
  } else if (found.begins_chord) {
    chord_ = chord;
  } else if (!goes_on && key.code == KeyCode::Text && !key.ctrl && !key.alt) {
    insert(key.text);
  }
  return ending_;
}

// --- text

void Editor::insert(std::string_view text) {
  walk_.reset();
  indent_closing(text);
  buffer_.insert(text);
}

void Editor::paste(std::string_view text) {
  walk_.reset();
  menu_.reset();
  buffer_.end_run();
  buffer_.insert(pasted_text(text));
  buffer_.end_run();
}

// A closing bracket that begins a line stands under the line that opened it.
void Editor::indent_closing(std::string_view typed) {
  if (typed != ")" && typed != "]" && typed != "}") return;
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  const std::string_view line = std::string_view(text()).substr(begin, cursor - begin);
  if (begin > 0 && line.size() >= kIndent && is_blank(line)) buffer_.replace(cursor - kIndent, cursor, "");
}

// Of a line behind the cursor's.
std::string Editor::indentation() const {
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  const std::string_view line = std::string_view(text()).substr(begin, cursor - begin);
  std::string indent(line.substr(0, std::min(line.find_first_not_of(' '), line.size())));
  if (open_brackets(line) > 0) indent.append(kIndent, ' ');
  return indent;
}

void Editor::accept_line() {
  const size_t last = buffer_.line_begin(text().size());
  const bool blank_line = last > 0 && is_blank(std::string_view(text()).substr(last));
  if (assistant_.needs_more(text(), blank_line)) {
    insert_line();
    return;
  }
  ending_ = Ending::Submitted;
}

void Editor::insert_line() {
  const std::string line = "\n" + indentation();
  // A line of nothing but indentation stays empty.
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  const bool only_blanks = begin < cursor && is_blank(std::string_view(text()).substr(begin, cursor - begin));
  buffer_.replace(only_blanks ? begin : cursor, cursor, line);
}

void Editor::erase_left() {
  const size_t cursor = buffer_.cursor(), begin = buffer_.line_begin(cursor);
  const std::string_view line = std::string_view(text()).substr(begin, cursor - begin);
  if (begin > 0 && !line.empty() && line.size() % kIndent == 0 &&
      std::ranges::count(line, ' ') == std::ssize(line))
    buffer_.replace(cursor - kIndent, cursor, "");
  else
    buffer_.erase_left();
}
void Editor::erase_right() { buffer_.erase_right(); }
void Editor::erase_or_close() {
  if (buffer_.is_empty())
    ending_ = Ending::Closed;
  else
    buffer_.erase_right();
}
void Editor::kill_to_line_end() { buffer_.kill_to_line_end(); }
void Editor::kill_to_line_begin() { buffer_.kill_to_line_begin(); }
void Editor::kill_word_left() { buffer_.kill_word_left(); }
void Editor::kill_blank_word_left() { buffer_.kill_blank_word_left(); }
void Editor::kill_word_right() { buffer_.kill_word_right(); }
void Editor::yank() { buffer_.yank(); }
void Editor::yank_earlier() { buffer_.yank_earlier(); }
void Editor::transpose() { buffer_.transpose(); }
void Editor::upper_case() { buffer_.change_case(EditBuffer::Case::Upper); }
void Editor::lower_case() { buffer_.change_case(EditBuffer::Case::Lower); }
void Editor::capital_case() { buffer_.change_case(EditBuffer::Case::Capital); }
void Editor::undo() { buffer_.undo(); }
void Editor::redo() { buffer_.redo(); }

// --- movements

void Editor::left() { buffer_.move_left(); }
void Editor::right() {
  if (!take_ghost(true)) buffer_.move_right();
}
void Editor::word_left() { buffer_.move_word_left(); }
void Editor::word_right() {
  if (!take_ghost(false)) buffer_.move_word_right();
}
void Editor::line_begin() { buffer_.move_line_begin(); }
void Editor::line_end() {
  if (!take_ghost(true)) buffer_.move_line_end();
}
void Editor::text_begin() { buffer_.move_to(0); }
void Editor::text_end() { buffer_.move_to(text().size()); }

// --- the rest

void Editor::cancel() {}
void Editor::clear_screen() { clears_ = true; }
void Editor::drop() { ending_ = Ending::Dropped; }
void Editor::suspend() { ending_ = Ending::Suspended; }

// --- what is shown

Picture Editor::picture() {
  Picture shown{.prompt = kPrompt, .continuation = kContinuation, .text = text(), .cursor = buffer_.cursor()};
  if (search_ && search_->index < history_.size()) {
    shown.text = history_.entry(search_->index);
    shown.cursor = shown.text.size();
    if (const auto match = history_.containing_before(search_->index + 1, search_->words);
        match && match->index == search_->index && !search_->words.empty()) {
      shown.cursor = match->offset;
      shown.styles = {{match->offset, match->offset + search_->words.size(), Style::Match}};
    }
  } else if (text().size() <= kMostStyled) {
    shown.styles = assistant_.styles(text(), buffer_.cursor());
  }
  return shown;
}

std::string Editor::redraw() {
  std::string out;
  if (std::exchange(clears_, false)) {
    out += kClearScreen;
    screen_.forget();
  }
  Picture shown = picture();
  shown.ghost = ghost();
  shown.below = below();
  return out + screen_.show(view_.frame(shown, screen_.width(), screen_.height()));
}

std::string Editor::finish() {
  menu_.reset();
  search_.reset();
  Picture shown = picture();
  shown.cursor = shown.text.size();
  std::string out = screen_.show(view_.frame(shown, screen_.width(), screen_.height())) + "\r\n";
  screen_.forget();
  return out;
}

std::vector<StyledLine> Editor::below() {
  constexpr size_t kMostMenu = 8;
  if (search_) {
    const std::string_view found = search_->is_found ? "" : "  nothing found";
    return {{{"search: ", Style::Hint}, {search_->words, Style::Strong}, {std::string(found), Style::Hint}}};
  }
  if (menu_) return menu_lines(std::min(kMostMenu, std::max<size_t>(screen_.height(), 3) - 2));
  if (text().size() > kMostStyled) return {};
  return assistant_.hint(text(), buffer_.cursor());
}

}  // namespace quern::editor
