#pragma once
// The layout of text in the cells of a terminal.
//
// A cluster (a grapheme of Unicode's UAX 29) is what the cursor steps over. Its width is the sum of the widths of its
// code points, as terminals that know nothing of clusters count it; on those that do, columns are stated anew after
// each cluster that is not plain.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quern::editor {

/// The end of the cluster that begins at `at`; the size of the text at its end. A byte that is not UTF-8 is a cluster.
size_t next_cluster(std::string_view text, size_t at);
/// The begin of the cluster that ends at `at`; 0 at the beginning.
size_t previous_cluster(std::string_view text, size_t at);

/// The displayed form of a cluster: control characters as `^A`, a tab as blanks, a byte that is not UTF-8 as U+FFFD.
struct Glyph {
  std::string text;
  uint8_t cells = 1;
  friend bool operator==(const Glyph&, const Glyph&) = default;
};
Glyph glyph_of(std::string_view cluster);

/// The width of a cluster in cells.
size_t cells_of_cluster(std::string_view cluster);
/// The width of a text without line ends in cells.
size_t cells_of(std::string_view text);
/// The text, truncated with `…` to a number of cells.
std::string cut_to_cells(std::string_view text, size_t cells);

/// Whether a text consists of blanks and line ends.
bool is_blank(std::string_view text);
/// Whether the bytes are printable ASCII: one cell each.
bool is_plain(std::string_view text);

}  // namespace quern::editor
