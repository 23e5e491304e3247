#pragma once
// The terminal of the process: its modes, its size, and its signals.

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "repl/editor/graphics.h"

namespace quern::editor {

/// Owns the terminal while it lives and restores it afterwards, also if a signal ends the process. There is at most one
/// at a time.
class Terminal {
 public:
  Terminal(int in, int out);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Whether it supports reading single keys and moving the cursor.
  static bool is_capable(int in, int out);

  enum class Mode {
    Original,  ///< as it was found: for other programs
    Editing,   ///< every key is read as it is
    Running,   ///< Ctrl-C is a signal; what is typed is kept for the next input, and not shown
  };
  void set_mode(Mode mode);
  Mode mode() const { return mode_; }

  struct Size {
    size_t columns, rows;
  };
  Size size() const;
  void write(std::string_view bytes) const;
  /// What it can draw. It is asked at the first call, for a tenth of a second at most; between inputs alone, as what is
  /// typed meanwhile is kept for the next one.
  const Graphics& graphics();
  /// Takes the bytes that were typed during a query.
  std::string take_kept();

  struct Happened {
    bool input = false;
    bool resized = false;  ///< or another program had the terminal meanwhile
    bool timeout = false;
  };
  /// Waits for an event, for at most that many milliseconds; -1 for no limit.
  Happened wait(int milliseconds) const;
  bool has_input() const;
  /// Stops the process as Ctrl-Z does; returns when it is continued.
  void stop();

  int in() const { return in_; }

 private:
  int in_, out_;
  Mode mode_ = Mode::Original;
  termios original_{};
  std::optional<Graphics> graphics_;
  std::string kept_;
};

/// The graphics capabilities of the owned terminal; none if no terminal is owned.
std::optional<Graphics> graphics_of_terminal();

/// While it lives the terminal is as it was found, for a program that is started; nothing where none is taken.
class OriginalMode {
 public:
  OriginalMode();
  ~OriginalMode();
  OriginalMode(const OriginalMode&) = delete;
  OriginalMode& operator=(const OriginalMode&) = delete;

 private:
  Terminal::Mode mode_ = Terminal::Mode::Original;
};

}  // namespace quern::editor
