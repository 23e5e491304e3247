#include "repl/editor/keys.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "frontend/text/source.h"

namespace quern::editor {

namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kPasteEnd = "\x1b[201~";
// Answers to questions of pictures that came too late (repl/editor/graphics.h): how they begin after the escape, and end.
constexpr std::array<std::string_view, 2> kAnswers{"_G", "]11;"};
constexpr std::string_view kAnswerEnd = "\x1b\\", kBell = "\a";
constexpr size_t kMostAnswer = 128;
// Longer ones are not keys: only the escape is dropped, and the rest is read as text.
constexpr size_t kMostSequence = 32;
// `CSI 200 ~`, and `CSI 27 ; modifiers ; code ~`.
constexpr int kPasteBegin = 200, kModifiedKey = 27;

struct Named {
  int number;
  KeyCode code;
};
// `CSI n ~`
constexpr std::array kTildeKeys{Named{1, KeyCode::Home},   Named{2, KeyCode::Insert},
                                Named{3, KeyCode::Delete}, Named{4, KeyCode::End},
                                Named{5, KeyCode::PageUp}, Named{6, KeyCode::PageDown},
                                Named{7, KeyCode::Home},   Named{8, KeyCode::End}};
// `CSI letter`, `SS3 letter`
constexpr std::array kLetterKeys{Named{'A', KeyCode::Up},    Named{'B', KeyCode::Down},
                                 Named{'C', KeyCode::Right}, Named{'D', KeyCode::Left},
                                 Named{'H', KeyCode::Home},  Named{'F', KeyCode::End},
                                 Named{'M', KeyCode::Enter}};

template <size_t N>
KeyCode named(const std::array<Named, N>& table, int number) {
  const auto* found = std::ranges::find(table, number, &Named::number);
  return found == table.end() ? KeyCode::Unknown : found->code;
}

// F1 to F20 of `CSI n ~`, which skips numbers; 0 for none.
int function_number(int n) {
  if (n >= 11 && n <= 15) return n - 10;
  if (n >= 17 && n <= 21) return n - 11;
  if (n >= 23 && n <= 26) return n - 12;
  return 0;
}

Key function_key(int number) { return {.code = KeyCode::Function, .text = std::to_string(number)}; }

// xterm's: 1 and the sum of Shift 1, Alt 2, Ctrl 4.
void set_modifiers(Key& key, int parameter) {
  if (parameter < 2) return;
  const int bits = parameter - 1;
  key.shift = key.shift || (bits & 1) != 0;
  key.alt = key.alt || (bits & 2) != 0;
  key.ctrl = key.ctrl || (bits & 4) != 0;
}

std::string utf8_of(int code_point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t count = utf8proc_encode_char(code_point, bytes.data());
  return {bytes.begin(), bytes.begin() + count};
}

// A byte below 32, or 127.
Key control_key(unsigned char c) {
  switch (c) {
    case '\r':
    case '\n': return {.code = KeyCode::Enter};
    case '\t': return {.code = KeyCode::Tab};
    case 0x08:
    case 0x7f: return {.code = KeyCode::Backspace};
    case 0x1b: return {.code = KeyCode::Escape};
    default: break;
  }
  const char letter = c == 0 ? ' ' : static_cast<char>(c < 27 ? c + 'a' - 1 : c + '@');
  return {.code = KeyCode::Text, .ctrl = true, .text = std::string(1, letter)};
}

// A key by its code point, as `CSI code ; modifiers u` and `CSI 27 ; modifiers ; code ~` have it.
Key key_of_code(int code, int modifiers) {
  Key key = code < 32 || code == 127 ? control_key(static_cast<unsigned char>(code))
                                     : Key{.code = KeyCode::Text, .text = utf8_of(code)};
  set_modifiers(key, modifiers);
  return key;
}

// What follows `CSI`: numbers and the letter that ends them.
struct Sequence {
  std::array<int, 4> numbers{};
  char last = 0;  ///< 0 for one that is broken off
  size_t end = 0;
};

// Nothing if more bytes are needed.
std::optional<Sequence> read_sequence(std::string_view text, size_t begin) {
  Sequence found;
  size_t count = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    found.end = at;
    if (c < 0x20 || c > 0x7e || at - begin >= kMostSequence) return found;
    const bool ends = c >= 0x40 && !(c == '[' && at == begin);  // the Linux console has `CSI [ A` for F1
    if (c >= '0' && c <= '9' && count < found.numbers.size())
      found.numbers[count] = std::min(found.numbers[count] * 10 + (c - '0'), 0x110000);
    if (c == ';' || c == ':') ++count;
    if (!ends) continue;
    found.last = c;
    found.end = at + 1;
    return found;
  }
  return std::nullopt;
}

Key key_of(const Sequence& sequence) {
  const auto& [numbers, last, end] = sequence;
  Key key;
  switch (last) {
    case 0: return key;
    case 'u': return key_of_code(numbers[0], numbers[1]);
    case 'Z': return {.code = KeyCode::Tab, .shift = true};
    case '~':
      if (numbers[0] == kModifiedKey) return key_of_code(numbers[2], numbers[1]);
      if (const int number = function_number(numbers[0]))
        key = function_key(number);
      else
        key.code = named(kTildeKeys, numbers[0]);
      break;
    case 'P':
    case 'Q':
    case 'R':
    case 'S': key = function_key(last - 'P' + 1); break;
    default: key.code = named(kLetterKeys, last);
  }
  set_modifiers(key, numbers[1]);
  return key;
}

}  // namespace

std::string to_string(const Key& key) {
  constexpr std::array<std::string_view, 18> kNames{
      "",     "Paste", "Enter", "Tab", "Backspace", "Delete",   "Escape", "Up", "Down",
      "Left", "Right", "Home",  "End", "PageUp",    "PageDown", "Insert", "F",  "Unknown"};
  std::string name;
  if (key.ctrl) name += "Ctrl-";
  if (key.alt) name += "Alt-";
  if (key.shift) name += "Shift-";
  name += kNames[static_cast<size_t>(key.code)];
  if (key.code == KeyCode::Function) return name + key.text;
  if (key.code != KeyCode::Text) return name;
  if (key.text == " ") return name + "Space";
  if (key.ctrl && key.text.size() == 1 && key.text[0] >= 'a' && key.text[0] <= 'z')
    return name + static_cast<char>(key.text[0] - 'a' + 'A');
  return name + key.text;
}

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  size_t taken = 0;
  while (!pending_.empty() && (taken = take(keys, false)) > 0) pending_.erase(0, taken);
  return keys;
}

std::vector<Key> KeyDecoder::flush() {
  std::vector<Key> keys;
  while (!pending_.empty() && !is_pasting_) pending_.erase(0, std::max<size_t>(1, take(keys, true)));
  return keys;
}

size_t KeyDecoder::take(std::vector<Key>& keys, bool is_last) {
  if (is_pasting_) return take_paste(keys);
  if (pending_[0] == kEscape) return take_escape(keys, is_last);
  return take_character(keys, 0, false, is_last);
}

size_t KeyDecoder::take_paste(std::vector<Key>& keys) {
  const size_t end = pending_.find(kPasteEnd, searched_);
  if (end == std::string::npos) {
    searched_ = pending_.size() - std::min(pending_.size(), kPasteEnd.size() - 1);
    return 0;
  }
  is_pasting_ = false;
  searched_ = 0;
  keys.push_back({.code = KeyCode::Paste, .text = pending_.substr(0, end)});
  return end + kPasteEnd.size();
}

size_t KeyDecoder::take_escape(std::vector<Key>& keys, bool is_last) {
  // Some terminals send Alt as a second escape before a sequence.
  const bool alt = pending_.size() > 1 && pending_[1] == kEscape;
  const size_t begin = alt ? 2 : 1;
  if (pending_.size() <= begin) {
    if (!is_last) return 0;
    keys.push_back({.code = KeyCode::Escape, .alt = alt});
    return begin;
  }
  const char kind = pending_[begin];
  if (kind == '[' || kind == 'O') {
    const size_t taken = kind == '[' ? take_csi(keys, begin + 1, alt) : 0;
    if (taken > 0) return taken;
    if (kind == 'O' && pending_.size() > begin + 1) {
      const char letter = pending_[begin + 1];
      Key key = letter >= 'P' && letter <= 'S' ? function_key(letter - 'P' + 1)
                                               : Key{.code = named(kLetterKeys, letter)};
      key.alt = alt;
      keys.push_back(std::move(key));
      return begin + 2;
    }
    if (!is_last && pending_.size() < kMostSequence) return 0;
    keys.push_back({.code = KeyCode::Text, .alt = true, .text = std::string(1, kind)});
    return begin + 1;
  }
  if (!is_last && may_be_answer(begin)) return take_answer(keys, begin);
  return take_character(keys, begin, true, is_last);
}

bool KeyDecoder::may_be_answer(size_t begin) const {
  const std::string_view rest = std::string_view(pending_).substr(begin);
  return rest.size() < kMostAnswer && std::ranges::any_of(kAnswers, [&](std::string_view answer) {
           return rest.starts_with(answer) || answer.starts_with(rest);
         });
}

size_t KeyDecoder::take_answer(std::vector<Key>& keys, size_t begin) {
  const size_t end = std::min(pending_.find(kAnswerEnd, begin), pending_.find(kBell, begin));
  if (end == std::string::npos) return 0;
  keys.emplace_back();
  return end + (pending_[end] == kBell[0] ? kBell.size() : kAnswerEnd.size());
}

size_t KeyDecoder::take_csi(std::vector<Key>& keys, size_t begin, bool alt) {
  const std::optional<Sequence> sequence = read_sequence(pending_, begin);
  if (!sequence) return 0;
  if (sequence->last == '~' && sequence->numbers[0] == kPasteBegin) {
    is_pasting_ = true;
    searched_ = 0;
    return sequence->end;
  }
  Key key = key_of(*sequence);
  key.alt = key.alt || alt;
  keys.push_back(std::move(key));
  return sequence->end;
}

size_t KeyDecoder::take_character(std::vector<Key>& keys, size_t begin, bool alt, bool is_last) {
  const auto c = static_cast<unsigned char>(pending_[begin]);
  if (c < 0x20 || c == 0x7f) {
    Key key = control_key(c);
    key.alt = alt;
    keys.push_back(std::move(key));
    return begin + 1;
  }
  size_t length = utf8_length(pending_, begin);
  if (length == 0) {
    // An incomplete character waits for its other bytes; any other byte is kept as it is.
    const size_t wanted = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    const std::string_view rest = std::string_view(pending_).substr(begin);
    const bool may_grow = rest.size() < wanted && std::ranges::all_of(rest.substr(1), [](unsigned char b) {
                            return (b & 0xc0) == 0x80;
                          });
    if (may_grow && !is_last) return 0;
    length = 1;
  }
  keys.push_back({.code = KeyCode::Text, .alt = alt, .text = pending_.substr(begin, length)});
  return begin + length;
}

}  // namespace quern::editor
