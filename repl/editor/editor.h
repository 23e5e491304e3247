#pragma once
// The line editor: turns keys into a text and the bytes that display it. It accesses no file and no terminal itself, so
// tests feed it keys and check the bytes.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "repl/editor/assistant.h"
#include "repl/editor/buffer.h"
#include "repl/editor/history.h"
#include "repl/editor/keys.h"
#include "repl/editor/screen.h"
#include "repl/editor/view.h"

namespace quern::editor {

class Editor;

/// A row of the table of keys.
struct Binding {
  std::string_view keys;  ///< as to_string(Key) has them, with blanks between them
  std::string_view help;
  void (Editor::*run)();
};
std::span<const Binding> bindings();

/// The end of an input by a key.
enum class Ending {
  None,
  Submitted,  ///< the input is complete
  Dropped,    ///< Ctrl-C
  Closed,     ///< Ctrl-D without an input
  Suspended,  ///< Ctrl-Z: the program stops, and the input continues afterwards
};

class Editor {
 public:
  Editor(Assistant& assistant, History& history, size_t width, size_t height, Colours colours);

  /// A new input, at the beginning of a row.
  void begin(std::string_view text = {});
  Ending take(const Key& key);
  const std::string& text() const { return buffer_.text(); }
  size_t cursor() const { return buffer_.cursor(); }

  // Each returns the bytes for the terminal.

  /// Updates the display.
  std::string redraw();
  /// Shows only the input, with the cursor at the beginning of the row after it.
  std::string finish();
  /// Erases everything to make room for other output; `redraw` restores it.
  std::string take_away() { return screen_.take_away(); }
  std::string resize(size_t width, size_t height) { return screen_.resize(width, height); }

  // --- what keys do
  void accept_line();
  void insert_line();
  void complete();
  void complete_backward();
  void cancel();
  void left();
  void right();
  void word_left();
  void word_right();
  void up();
  void down();
  void earlier_input();
  void later_input();
  void line_begin();
  void line_end();
  void text_begin();
  void text_end();
  void erase_left();
  void erase_right();
  void erase_or_close();
  void kill_to_line_end();
  void kill_to_line_begin();
  void kill_word_left();
  void kill_blank_word_left();
  void kill_word_right();
  void yank();
  void yank_earlier();
  void transpose();
  void upper_case();
  void lower_case();
  void capital_case();
  void undo();
  void redo();
  void search_backward();
  void search_forward();
  void clear_screen();
  void show_documentation();
  void drop();
  void suspend();

 private:
  struct Menu {
    Completions list;
    size_t selected = 0, top = 0;
  };
  struct Search {
    std::string words;
    size_t index;  ///< of the entry that is shown
    bool is_found = true;
    std::string text;  ///< before
    size_t cursor;
  };
  // Navigation of the history: the typed text and the present entry.
  struct Walk {
    std::string draft;
    std::string prefix;
    size_t index;
  };

  void insert(std::string_view text);
  void paste(std::string_view text);
  void indent_closing(std::string_view typed);
  std::string indentation() const;
  bool take_in_menu(const Key& key);
  bool take_in_search(const Key& key);
  void open_menu();
  void narrow_menu();
  void accept_completion(const Completion& item);
  /// `is_next`: not the entry that is shown.
  void search(bool is_next, bool backward);
  void find(bool backward, bool is_next);
  bool walk(bool backward);
  std::string_view ghost() const;
  bool take_ghost(bool whole);
  std::vector<StyledLine> below();
  std::vector<StyledLine> menu_lines(size_t rows);
  Picture picture();

  Assistant& assistant_;
  History& history_;
  EditBuffer buffer_;
  View view_;
  Screen screen_;
  std::optional<Menu> menu_;
  std::optional<Search> search_;
  std::optional<Walk> walk_;
  std::string chord_;  ///< the keys so far of a binding with several
  Ending ending_ = Ending::None;
  bool clears_ = false;
  bool explains_ = true;  ///< the menu shows the documentation of the selected completion
};

}  // namespace quern::editor
