#include "ide/indentation.h"

#include <algorithm>

#include "ide/lexed_text.h"

namespace quern::ide {

namespace {

bool ends_a_line(char c) { return c == '\n' || c == '\r'; }

/// The blanks that the line of an offset begins with.
Range blanks_of_line(std::string_view text, uint32_t offset) {
  uint32_t begin = std::min(offset, static_cast<uint32_t>(text.size()));
  while (begin > 0 && !ends_a_line(text[begin - 1])) --begin;
  uint32_t end = begin;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  return {begin, end};
}

}  // namespace

std::optional<Indentation> indentation_of_line(std::string_view text, uint32_t offset) {
  const LexedText lexed = lexed_text(text);
  const Range blanks = blanks_of_line(text, offset);
  const auto is_around = [&](Range range) { return range.begin < blanks.begin && blanks.begin < range.end; };
  if (std::ranges::any_of(lexed.comments, is_around)) return std::nullopt;
  // The brackets that are open where the line begins.
  std::vector<uint32_t> open;
  size_t first = 0;
  for (; first < lexed.lexemes.size() && lexed.lexemes[first].range.begin < blanks.begin; ++first) {
    const auto i = static_cast<uint32_t>(first);
    if (lexed.begins_declaration(i)) open.clear();
    if (lexed.opens(i)) open.push_back(i);
    if (lexed.closes(i) && lexed.partner[i] != kNoLexeme)
      while (!open.empty() && open.back() >= lexed.partner[i]) open.pop_back();
  }
  std::string wanted;
  if (!open.empty()) {
    const Range line = blanks_of_line(text, lexed.lexemes[open.back()].range.begin);
    wanted = std::string(text.substr(line.begin, line.end - line.begin));
    const bool closes_it = first < lexed.lexemes.size() && lexed.lexemes[first].range.begin == blanks.end &&
                           lexed.closes(first) && lexed.partner[first] == open.back();
    if (!closes_it) wanted += "  ";
  } else if (first < lexed.lexemes.size() && lexed.lexemes[first].range.begin == blanks.end) {
    // Outside of brackets, the author chooses the indentation.
    return std::nullopt;
  }
  if (text.substr(blanks.begin, blanks.end - blanks.begin) == wanted) return std::nullopt;
  return Indentation{blanks, wanted};
}

}  // namespace quern::ide
