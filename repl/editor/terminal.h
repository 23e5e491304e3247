#pragma once
// The terminal of the process: its modes, its size, and its signals.

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "repl/editor/graphics.h"

namespace quern::editor {

/// Takes a terminal while it lives, and gives it back as it was; also where a signal ends the process. There is one
/// at a time.
class Terminal {
 public:
  Terminal(int in, int out);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Whether keys can be read from it one by one, and the cursor moved.
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
  /// What was typed while something was asked; once.
  std::string take_kept();

  struct Happened {
    bool input = false;
    bool resized = false;  ///< or somebody else had the terminal meanwhile
    bool timeout = false;
  };
  /// Waits until something has happened; at most so many milliseconds, -1 for no limit.
  Happened wait(int milliseconds) const;
  bool has_input() const;
  /// Stops the process as Ctrl-Z does; returns when it goes on.
  void stop();

  int in() const { return in_; }

 private:
  int in_, out_;
  Mode mode_ = Mode::Original;
  termios original_{};
  std::optional<Graphics> graphics_;
  std::string kept_;
};

/// What the terminal that is taken can draw; nothing where none is.
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
