#include "jupyter/cell.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "repl/input.h"

namespace quern::jupyter {

namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '@';
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

std::vector<std::string> inputs_of(std::string_view cell) {
  std::vector<std::string> inputs;
  std::string text;
  while (!cell.empty()) {
    const size_t end = std::min(cell.find('\n'), cell.size());
    const std::string_view line = cell.substr(0, end);
    cell.remove_prefix(std::min(end + 1, cell.size()));
    if (text.empty() && is_blank(line)) continue;
    if (!text.empty()) text += '\n';
    text += line;
    if (!cell.empty() && needs_more(text, is_blank(line))) continue;
    inputs.push_back(std::exchange(text, {}));
  }
  return inputs;
}

size_t byte_of(std::string_view text, size_t character) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte)
    if ((static_cast<unsigned char>(text[byte]) & 0xc0) != 0x80 && character-- == 0) return byte;
  return byte;
}

size_t character_of(std::string_view text, size_t byte) {
  size_t characters = 0;
  for (const char c : text.substr(0, byte)) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return characters;
}

std::string_view name_at(std::string_view text, size_t byte) {
  size_t begin = std::min(byte, text.size()), end = begin;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  while (end < text.size() && is_name(text[end])) ++end;
  return text.substr(begin, end - begin);
}

size_t open_bracket_before(std::string_view text, size_t byte) {
  int closed = 0;
  for (size_t at = std::min(byte, text.size()); at-- > 0;) {
    const char c = text[at];
    if (c == ')' || c == ']' || c == '}') ++closed;
    if ((c == '(' || c == '[' || c == '{') && closed-- == 0) return c == '(' ? at : 0;
  }
  return 0;
}

}  // namespace quern::jupyter
