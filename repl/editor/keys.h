#pragma once
// From the bytes that a terminal sends to keys: xterm's escape sequences, which all terminals of today send, UTF-8,
// and bracketed paste.

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

/// The key as its users write it: `Ctrl-R`, `Alt-Enter`, `Up`, `a`.
std::string to_string(const Key& key);

/// Takes bytes as they come; a sequence may be cut anywhere.
class KeyDecoder {
 public:
  /// The keys that are whole by now.
  std::vector<Key> feed(std::string_view bytes);
  /// Whether the bytes so far end in what may be the beginning of a sequence: then more is waited for shortly.
  bool is_waiting() const { return !pending_.empty() && !is_pasting_; }
  /// What the bytes so far are when no more come: Escape, or the letter with Alt.
  std::vector<Key> flush();

 private:
  /// How many bytes of the pending ones were taken; 0 where more are needed.
  size_t take(std::vector<Key>& keys, bool is_last);
  size_t take_escape(std::vector<Key>& keys, bool is_last);
  size_t take_csi(std::vector<Key>& keys, size_t begin, bool alt);
  size_t take_answer(std::vector<Key>& keys, size_t begin);
  bool may_be_answer(size_t begin) const;
  size_t take_character(std::vector<Key>& keys, size_t begin, bool alt, bool is_last);
  size_t take_paste(std::vector<Key>& keys);

  std::string pending_;
  bool is_pasting_ = false;
  size_t searched_ = 0;  ///< of a paste: up to where its end was looked for
};

}  // namespace quern::editor
