#pragma once
// ANTLR positions as byte offsets. Internal to the parser.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quern {

/// ANTLR counts code points, spans count bytes.
class ByteOffsets {
 public:
  explicit ByteOffsets(std::string_view text) : size_(static_cast<uint32_t>(text.size())) {
    bool ascii =
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii) return;
    for (uint32_t i = 0; i < text.size(); ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts_.push_back(i);
  }
  uint32_t of(size_t code_point) const {
    if (starts_.empty()) return std::min(static_cast<uint32_t>(code_point), size_);
    return code_point < starts_.size() ? starts_[code_point] : size_;
  }

 private:
  uint32_t size_;
  std::vector<uint32_t> starts_;
};

}  // namespace quern
