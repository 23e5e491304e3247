#include "frontend/text/source.h"

#include <algorithm>
#include <cstring>

namespace quern {

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0} {
  if (text.find('\r') == std::string_view::npos) {
    for (size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1))
      starts_.push_back(static_cast<uint32_t>(i + 1));
    return;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (text[i] == '\n' || text[i] == '\r') starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

LineColumn LineIndex::locate(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - starts_.begin());
  uint32_t start = starts_[line - 1];
  if (line == 1 && text_.starts_with(kByteOrderMark))
    start = std::min(offset, static_cast<uint32_t>(kByteOrderMark.size()));
  return {line, 1 + count_code_points(text_.substr(start, offset - start))};
}

std::string_view LineIndex::line(uint32_t number) const {
  if (number == 0 || number > starts_.size()) return {};
  uint32_t start = starts_[number - 1];
  std::string_view rest = text_.substr(start, line_start(number) - start);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  return rest;
}

uint32_t LineIndex::line_start(uint32_t line_from_0) const {
  return line_from_0 < starts_.size() ? starts_[line_from_0] : static_cast<uint32_t>(text_.size());
}

size_t utf8_length(std::string_view text, size_t i) {
  auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  auto tail = [&](size_t k) { return k < text.size() && (byte(k) & 0xC0) == 0x80; };
  unsigned char lead = byte(i);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(i + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!tail(i + 1) || !tail(i + 2)) return 0;
    if (lead == 0xE0 && byte(i + 1) < 0xA0) return 0;
    if (lead == 0xED && byte(i + 1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!tail(i + 1) || !tail(i + 2) || !tail(i + 3)) return 0;
    if (lead == 0xF0 && byte(i + 1) < 0x90) return 0;
    if (lead == 0xF4 && byte(i + 1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

size_t first_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    // Eight bytes of ASCII at a time.
    for (uint64_t word = 0; i + sizeof word <= text.size(); i += sizeof word) {
      std::memcpy(&word, text.data() + i, sizeof word);
      if (word & 0x8080808080808080u) break;
    }
    if (i == text.size()) break;
    size_t length = utf8_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return text.size();
}

std::string with_valid_utf8(std::string text) {
  for (size_t i = first_invalid_utf8(text); i < text.size();) {
    size_t length = utf8_length(text, i);
    if (length == 0) text[i] = 0x1A;
    i += std::max<size_t>(1, length);
  }
  return text;
}

uint32_t count_code_points(std::string_view text) {
  uint32_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) i += std::max<size_t>(1, utf8_length(text, i));
  return count;
}

}  // namespace quern
