#pragma once
// Decodes the bytes of a terminal into keys: xterm's escape sequences, which all present terminals send, UTF-8, and
// bracketed paste.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::editor {

enum class KeyCode : uint8_t {
  Text,   ///< what is inserted: one character, or a paste
  Paste,  ///< between the marks of a bracketed paste
  Enter,
  Tab,
  Backspace,
  Delete,
  Escape,
  Up,
  Down,
  Left,
  Right,
  Home,
  End,
  PageUp,
  PageDown,
  Insert,
  Function,  ///< F1 and on: the number is in `text`
  Unknown,   ///< a sequence of some other key
};

struct Key {
  KeyCode code = KeyCode::Unknown;
  bool ctrl = false, alt = false, shift = false;
  std::string text{};  ///< of Text and Paste; of a letter with Ctrl or Alt the letter
  friend bool operator==(const Key&, const Key&) = default;
};

/// The usual name of the key: `Ctrl-R`, `Alt-Enter`, `Up`, `a`.
std::string to_string(const Key& key);

/// Feeds bytes; a sequence may be split anywhere.
class KeyDecoder {
 public:
  /// The complete keys so far.
  std::vector<Key> feed(std::string_view bytes);
  /// Whether the bytes so far end with a possible prefix of a sequence, so that it is worth waiting briefly for more.
  bool is_waiting() const { return !pending_.empty() && !is_pasting_; }
  /// Decodes the pending bytes if no more come: Escape, or a letter with Alt.
  std::vector<Key> flush();

 private:
  /// The number of pending bytes consumed; 0 if more are needed.
  size_t take(std::vector<Key>& keys, bool is_last);
  size_t take_escape(std::vector<Key>& keys, bool is_last);
  size_t take_csi(std::vector<Key>& keys, size_t begin, bool alt);
  size_t take_answer(std::vector<Key>& keys, size_t begin);
  bool may_be_answer(size_t begin) const;
  size_t take_character(std::vector<Key>& keys, size_t begin, bool alt, bool is_last);
  size_t take_paste(std::vector<Key>& keys);

  std::string pending_;
  bool is_pasting_ = false;
  size_t searched_ = 0;  ///< of a paste: where the search for its end resumes
};

}  // namespace quern::editor
