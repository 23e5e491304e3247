#pragma once
// How text takes up the cells of a terminal.
//
// A cluster (a grapheme of Unicode's UAX 29) is what the cursor steps over. Its width is the sum of the widths of its
// code points, as terminals that know nothing of clusters count it; on those that do, columns are stated anew after
// each cluster that is not plain.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quern::editor {

/// Where the cluster that begins at `at` ends; the size of the text at its end. A byte that is no UTF-8 is a cluster.
size_t next_cluster(std::string_view text, size_t at);
/// Where the cluster that ends at `at` begins; 0 at the beginning.
size_t previous_cluster(std::string_view text, size_t at);

/// What a cluster looks like: control characters as `^A`, a tab as blanks, a byte that is no UTF-8 as U+FFFD.
struct Glyph {
  std::string text;
  uint8_t cells = 1;
  friend bool operator==(const Glyph&, const Glyph&) = default;
};
Glyph glyph_of(std::string_view cluster);

/// The cells that a cluster takes.
size_t cells_of_cluster(std::string_view cluster);
/// The cells that a text without line ends takes.
size_t cells_of(std::string_view text);
/// The first clusters of a text that fit into so many cells, with `…` for the rest where they do not all.
std::string cut_to_cells(std::string_view text, size_t cells);

/// Whether a text is blanks and line ends alone.
bool is_blank(std::string_view text);
/// Whether the bytes are printable ASCII: one cell each.
bool is_plain(std::string_view text);

}  // namespace quern::editor
