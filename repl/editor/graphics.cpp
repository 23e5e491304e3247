#include "repl/editor/graphics.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

namespace quern::editor {

namespace {

constexpr std::string_view kKittyAnswer = "\x1b_G", kColourAnswer = "\x1b]11;", kSequence = "\x1b[";
constexpr std::string_view kStringEnd = "\x1b\\", kOtherStringEnd = "\a";
constexpr int kSixelAttribute = 4, kCellSizeReport = 6;

/// The numbers between semicolons.
std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  while (true) {
    const size_t end = text.find(';');
    const std::string_view part = text.substr(0, end);
    int number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
    if (end == std::string_view::npos) return numbers;
    text.remove_prefix(end + 1);
  }
}

/// Whether a colour is nearer to black than to white: `rgb:ffff/ffff/ffff`, or with fewer digits.
bool is_dark(std::string_view colour) {
  constexpr std::string_view kForm = "rgb:";
  if (!colour.starts_with(kForm)) return false;
  colour.remove_prefix(kForm.size());
  double light = 0;
  for (const double weight : {0.299, 0.587, 0.114}) {  // Rec. 601
    const std::string_view part = colour.substr(0, colour.find('/'));
    unsigned level = 0;
    if (std::from_chars(part.data(), part.data() + part.size(), level, 16).ec != std::errc()) return false;
    light += weight * level / static_cast<double>((1U << (4 * std::min<size_t>(part.size(), 4))) - 1);
    colour.remove_prefix(std::min(part.size() + 1, colour.size()));
  }
  return light < 0.5;
}

/// How many bytes at the beginning are an answer, which is noted; 0 where none is.
size_t take_answer(std::string_view bytes, GraphicsAnswer& answer) {
  if (bytes.starts_with(kKittyAnswer)) {
    const size_t end = bytes.find(kStringEnd, kKittyAnswer.size());
    if (end == std::string_view::npos) return 0;
    answer.graphics.has_kitty = bytes.substr(0, end).ends_with(";OK");
    return end + kStringEnd.size();
  }
  if (bytes.starts_with(kColourAnswer)) {
    const size_t end = std::min(bytes.find(kStringEnd), bytes.find(kOtherStringEnd));
    if (end == std::string_view::npos) return 0;
    answer.graphics.is_dark = is_dark(bytes.substr(kColourAnswer.size(), end - kColourAnswer.size()));
    return end +
           (bytes.substr(end).starts_with(kOtherStringEnd) ? kOtherStringEnd.size() : kStringEnd.size());
  }
  if (!bytes.starts_with(kSequence)) return 0;
  const size_t last = bytes.find_first_not_of("0123456789;?", kSequence.size());
  if (last == std::string_view::npos) return 0;
  const std::string_view inside = bytes.substr(kSequence.size(), last - kSequence.size());
  if (bytes[last] == 'c' && inside.starts_with('?')) {
    const std::vector<int> attributes = numbers_in(inside.substr(1));
    // The first number is the terminal's level.
    for (size_t i = 1; i < attributes.size(); ++i)
      answer.graphics.has_sixel = answer.graphics.has_sixel || attributes[i] == kSixelAttribute;
    answer.is_whole = true;
    return last + 1;
  }
  const std::vector<int> numbers = numbers_in(inside);
  if (bytes[last] != 't' || numbers.size() != 3 || numbers[0] != kCellSizeReport) return 0;
  answer.graphics.cell_height = numbers[1];
  answer.graphics.cell_width = numbers[2];
  return last + 1;
}

}  // namespace

std::string_view graphics_question() {
  return "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
         "\x1b]11;?\x1b\\"
         "\x1b[16t"
         "\x1b[c";
}

bool may_be_asked(std::string_view terminal) {
  return !terminal.empty() && terminal != "dumb" && !terminal.starts_with("linux") &&
         !terminal.starts_with("vt");
}

GraphicsAnswer graphics_answer(std::string_view bytes) {
  GraphicsAnswer answer;
  while (!bytes.empty()) {
    if (const size_t taken = take_answer(bytes, answer)) {
      bytes.remove_prefix(taken);
    } else {
      answer.rest += bytes.front();
      bytes.remove_prefix(1);
    }
  }
  return answer;
}

}  // namespace quern::editor
