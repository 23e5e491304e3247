#include "repl/editor/cells.h"

#include <utf8proc.h>

#include <algorithm>
#include <cctype>

#include "frontend/text/source.h"

namespace quern::editor {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kTabCells = 2;
// No cluster of any language is longer; longer runs of combining marks are split.
constexpr size_t kMostClusterBytes = 64;

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

struct CodePoint {
  utf8proc_int32_t value = -1;  ///< negative: no UTF-8
  size_t bytes = 1;
};

CodePoint code_point_at(std::string_view text, size_t at) {
  const size_t length = utf8_length(text, at);
  if (length == 0) return {};
  CodePoint found{0, length};
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                   static_cast<utf8proc_ssize_t>(length), &found.value);
  return found;
}

size_t cells_of(const CodePoint& point) {
  if (point.value < 0) return 1;
  return static_cast<size_t>(std::max(0, utf8proc_charwidth(point.value)));
}

}  // namespace

bool is_blank(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isspace(c) != 0; });
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

size_t next_cluster(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  CodePoint point = code_point_at(text, at);
  size_t end = at + point.bytes;
  if (point.value < 0 || is_control(static_cast<unsigned char>(text[at]))) return end;
  // Between two bytes of ASCII there is always a boundary.
  if (end >= text.size() || (point.value < 0x80 && static_cast<unsigned char>(text[end]) < 0x80)) return end;
  utf8proc_int32_t state = 0;
  while (end < text.size() && end - at < kMostClusterBytes) {
    const CodePoint next = code_point_at(text, end);
    if (next.value < 0 || utf8proc_grapheme_break_stateful(point.value, next.value, &state)) break;
    point = next;
    end += next.bytes;
  }
  return end;
}

size_t previous_cluster(std::string_view text, size_t at) {
  at = std::min(at, text.size());
  if (at == 0) return 0;
  const auto is_ascii = [&](size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
  if (is_ascii(at - 1)) return at - 1;
  // From a place that is surely a boundary forward: what stands before ASCII or a line's start.
  size_t from = at;
  while (from > 0 && at - from < 4 * kMostClusterBytes && !is_ascii(from - 1)) --from;
  if (from > 0 && is_ascii(from - 1)) --from;
  while (from < at && utf8_length(text, from) == 0 && (static_cast<unsigned char>(text[from]) & 0xc0) == 0x80)
    ++from;
  size_t begin = from;
  for (size_t next = from; next < at; next = next_cluster(text, next)) begin = next;
  return begin;
}

Glyph glyph_of(std::string_view cluster) {
  if (cluster.empty()) return {"", 0};
  const auto first = static_cast<unsigned char>(cluster[0]);
  if (first == '\t') return {std::string(kTabCells, ' '), kTabCells};
  if (is_control(first)) return {std::string("^") + static_cast<char>(first ^ 0x40), 2};
  if (utf8_length(cluster, 0) == 0) return {std::string(kReplacement), 1};
  const size_t cells = cells_of_cluster(cluster);
  // Marks without a letter to stand on, and what has no width of its own.
  if (cells == 0) return {std::string(kReplacement), 1};
  return {std::string(cluster), static_cast<uint8_t>(std::min<size_t>(cells, 255))};
}

size_t cells_of_cluster(std::string_view cluster) {
  if (cluster.size() == 1) {
    const auto c = static_cast<unsigned char>(cluster[0]);
    return c == '\t' ? kTabCells : is_control(c) ? 2 : 1;
  }
  size_t cells = 0;
  for (size_t at = 0; at < cluster.size();) {
    const CodePoint point = code_point_at(cluster, at);
    cells += cells_of(point);
    at += point.bytes;
  }
  return cells;
}

size_t cells_of(std::string_view text) {
  size_t cells = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = next_cluster(text, at);
    cells += std::max<size_t>(1, cells_of_cluster(text.substr(at, end - at)));
    at = end;
  }
  return cells;
}

std::string cut_to_cells(std::string_view text, size_t cells) {
  if (cells_of(text) <= cells) return std::string(text);
  if (cells == 0) return "";
  size_t used = 0, at = 0;
  while (at < text.size()) {
    const size_t end = next_cluster(text, at);
    const size_t width = std::max<size_t>(1, cells_of_cluster(text.substr(at, end - at)));
    if (used + width > cells - 1) break;
    used += width;
    at = end;
  }
  return std::string(text.substr(0, at)) + "…";
}

}  // namespace quern::editor
