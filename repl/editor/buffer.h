#pragma once
// The edited text and the cursor in it, with the kill ring and the undo history.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::editor {

class EditBuffer {
 public:
  const std::string& text() const { return text_; }
  /// A byte offset, between clusters.
  size_t cursor() const { return cursor_; }
  bool is_empty() const { return text_.empty(); }

  /// Replaces the text and puts the cursor at its end; can be undone.
  void replace_all(std::string_view text);
  /// Replaces the text for a new input; cannot be undone.
  void reset(std::string_view text = {});
  void insert(std::string_view text);
  /// Replaces [begin, end) by `text` and puts the cursor after it.
  void replace(size_t begin, size_t end, std::string_view text);

  // --- movements; each returns whether the cursor moved
  bool move_to(size_t offset);
  bool move_left();
  bool move_right();
  bool move_word_left();
  bool move_word_right();
  bool move_line_begin();
  bool move_line_end();
  /// Up and down keep the column that the cursor had when it left its line.
  bool move_up();
  bool move_down();

  // --- erasing
  void erase_left();
  void erase_right();
  // Killed text can be yanked; consecutive kills are joined.
  void kill_to_line_end();
  void kill_to_line_begin();
  void kill_word_left();
  /// Up to the blank before the cursor.
  void kill_blank_word_left();
  void kill_word_right();
  void yank();
  /// After a yank: replaces the yanked text by the previous kill.
  void yank_earlier();

  // --- changes
  void transpose();
  enum class Case { Upper, Lower, Capital };
  void change_case(Case how);

  bool undo();
  bool redo();

  /// Ends the present group: later kills are not joined to earlier ones, and later letters are undone separately.
  void end_run();

  // --- places
  size_t line_begin(size_t at) const;
  size_t line_end(size_t at) const;
  size_t word_left(size_t at) const;
  size_t word_right(size_t at) const;

 private:
  struct Edit {
    size_t at;
    std::string removed, inserted;
    size_t cursor;  ///< before
  };
  enum class Run { None, Typing, Erasing, Kill, Yank, Vertical };
  enum class Direction { Before, After };

  void apply(size_t begin, size_t end, std::string_view text, Run run);
  void kill(size_t begin, size_t end, Direction direction);
  bool moved(size_t to);
  size_t column_of(size_t at) const;
  size_t at_column(size_t line_begin, size_t column) const;

  std::string text_;
  size_t cursor_ = 0;
  Run run_ = Run::None;
  size_t column_ = 0;  ///< of a run of vertical movements
  std::vector<Edit> done_, undone_;
  std::deque<std::string> killed_;  ///< the latest first
  size_t yanked_ = 0;               ///< which of them was yanked last
  size_t yank_begin_ = 0;
};

}  // namespace quern::editor
