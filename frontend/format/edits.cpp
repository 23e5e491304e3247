#include <cctype>

#include "frontend/format/format.h"

namespace quern {

namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
/// Characters that formatting may add or remove.
bool may_change(char c) { return is_blank(c) || c == ',' || c == ';'; }

/// The end of a run of such characters.
size_t skip(std::string_view text, size_t from) {
  while (from < text.size() && may_change(text[from])) ++from;
  return from;
}

void add_edit(std::vector<FormatEdit>& edits, std::string_view from, size_t begin, size_t end,
              std::string_view to) {
  std::string_view old = from.substr(begin, end - begin);
  while (!old.empty() && !to.empty() && old.front() == to.front()) {
    old.remove_prefix(1);
    to.remove_prefix(1);
    ++begin;
  }
  while (!old.empty() && !to.empty() && old.back() == to.back()) {
    old.remove_suffix(1);
    to.remove_suffix(1);
    --end;
  }
  if (old.empty() && to.empty()) return;
  edits.push_back({{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, std::string(to)});
}

}  // namespace

std::vector<FormatEdit> format_edits(std::string_view from, std::string_view to) {
  std::vector<FormatEdit> edits;
  size_t i = 0, k = 0;
  while (i < from.size() || k < to.size()) {
    size_t from_end = skip(from, i), to_end = skip(to, k);
    if (from.substr(i, from_end - i) != to.substr(k, to_end - k))
      add_edit(edits, from, i, from_end, to.substr(k, to_end - k));
    i = from_end;
    k = to_end;
    // If both continue with the same character, go on; otherwise one edit covers the rest.
    bool same = i < from.size() && k < to.size() && from[i] == to[k];
    if (!same && (i < from.size() || k < to.size())) {
      add_edit(edits, from, i, from.size(), to.substr(k));
      break;
    }
    ++i;
    ++k;
  }
  return edits;
}

}  // namespace quern
