#include "repl/editor/reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

#include "repl/editor/cells.h"

namespace quern::editor {

namespace {

// The bytes of a key arrive together, so an escape by itself is the Escape key.
constexpr int kEscapeMilliseconds = 40;

}  // namespace

Reader::Reader(int in, int out, Assistant& assistant, History& history, Colours colours)
    : terminal_(in, out),
      history_(history),
      editor_(assistant, history, terminal_.size().columns, terminal_.size().rows, colours) {}

// Reads the available bytes, and waits if there are none.
void Reader::fill() {
  const Terminal::Happened happened = terminal_.wait(decoder_.is_waiting() ? kEscapeMilliseconds : -1);
  if (happened.resized) resize();
  if (happened.timeout)
    for (Key& key : decoder_.flush()) keys_.push_back(std::move(key));
  if (!happened.input) return;
  std::array<char, 1 << 16> bytes;
  ssize_t count = read(terminal_.in(), bytes.data(), bytes.size());
  while (count < 0 && errno == EINTR) count = read(terminal_.in(), bytes.data(), bytes.size());
  if (count <= 0) {
    ended_ = true;
    return;
  }
  for (Key& key : decoder_.feed({bytes.data(), static_cast<size_t>(count)})) keys_.push_back(std::move(key));
}

void Reader::resize() {
  const Terminal::Size size = terminal_.size();
  terminal_.set_mode(Terminal::Mode::Editing);
  terminal_.write(editor_.resize(size.columns, size.rows) + editor_.redraw());
}

bool Reader::take(const Key& key) {
  switch (editor_.take(key)) {
    case Ending::None: return false;
    case Ending::Submitted: terminal_.write(editor_.finish()); return true;
    case Ending::Dropped:
      terminal_.write(editor_.finish());
      editor_.begin();
      return false;
    case Ending::Closed:
      terminal_.write(editor_.finish());
      ended_ = true;
      return true;
    case Ending::Suspended:
      terminal_.write(editor_.take_away());
      terminal_.stop();
      resize();
      return false;
  }
  return false;
}

std::optional<std::string> Reader::next() {
  while (!ended_) {
    terminal_.set_mode(Terminal::Mode::Editing);
    for (Key& key : decoder_.feed(terminal_.take_kept())) keys_.push_back(std::move(key));
    const Terminal::Size size = terminal_.size();
    editor_.begin(std::exchange(prefilled_, {}));
    editor_.resize(size.columns, size.rows);
    bool is_whole = false;
    while (!ended_ && !is_whole) {
      if (keys_.empty()) {
        if (!terminal_.has_input()) terminal_.write(editor_.redraw());
        fill();
        continue;
      }
      const Key key = std::move(keys_.front());
      keys_.pop_front();
      is_whole = take(key);
    }
    terminal_.set_mode(Terminal::Mode::Running);
    if (!is_whole || is_blank(editor_.text())) continue;
    history_.add(editor_.text());
    return editor_.text();
  }
  return std::nullopt;
}

}  // namespace quern::editor
