#include "ide/folding.h"

#include <algorithm>

#include "ide/lexed_text.h"

namespace quern::ide {

namespace {

constexpr std::string_view kLineEnds = "\r\n", kBlanks = " \t\r\n";

bool has_lines(std::string_view text) { return text.find_first_of(kLineEnds) != std::string_view::npos; }

/// Whether only blanks stand before an offset in its line.
bool begins_line(std::string_view text, uint32_t offset) {
  const size_t last = text.substr(0, offset).find_last_not_of(" \t");
  return last == std::string_view::npos || kLineEnds.find(text[last]) != std::string_view::npos;
}

/// A comment and those in the lines right after it.
uint32_t end_of_run(const LexedText& lexed, size_t& i) {
  auto follows = [&](Range comment, Range next) {
    const std::string_view between = lexed.in_text({comment.end, next.begin});
    return between.find_first_not_of(kBlanks) == std::string_view::npos &&
           std::ranges::count(between, '\n') <= 1 && begins_line(lexed.text, next.begin);
  };
  while (i + 1 < lexed.comments.size() && follows(lexed.comments[i], lexed.comments[i + 1])) ++i;
  return lexed.comments[i].end;
}

}  // namespace

std::vector<Folding> foldings(std::string_view text) {
  const LexedText lexed = lexed_text(text);
  std::vector<Folding> found;
  auto add = [&](Range range, bool is_comment) {
    if (has_lines(lexed.in_text(range))) found.push_back({range, is_comment});
  };
  for (uint32_t i = 0; i < lexed.lexemes.size(); ++i)
    if (lexed.opens(i) && lexed.partner[i] != kNoLexeme)
      add({lexed.lexemes[i].range.end, lexed.lexemes[lexed.partner[i]].range.begin}, false);
  for (size_t i = 0; i < lexed.comments.size(); ++i) {
    const uint32_t begin = lexed.comments[i].begin;
    if (begins_line(text, begin)) add({begin, end_of_run(lexed, i)}, true);
  }
  std::ranges::stable_sort(found, {}, [](const Folding& f) { return f.range.begin; });
  return found;
}

}  // namespace quern::ide
