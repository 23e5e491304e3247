#include "ide/selection.h"

#include <algorithm>
#include <string_view>

#include "ide/lexed_text.h"

namespace quern::ide {

namespace {

bool contains(Range outer, Range inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

class Selections {
 public:
  Selections(std::string_view text, uint32_t offset)
      : text_(text),
        lexed_(lexed_text(text)),
        offset_(std::min(offset, static_cast<uint32_t>(text.size()))) {}

  void add(Range range) {
    if (range.begin < range.end && range.begin <= offset_ && offset_ <= range.end) ranges_.push_back(range);
  }

  void add_lexemes() {
    for (const Lexeme& lexeme : lexed_.lexemes) {
      if (lexeme.kind == LexemeKind::Symbol) continue;
      add(lexeme.range);
      const bool has_sigil = lexeme.kind == LexemeKind::Local || lexeme.kind == LexemeKind::Global;
      if (has_sigil && offset_ > lexeme.range.begin) add({lexeme.range.begin + 1, lexeme.range.end});
      if (lexeme.kind == LexemeKind::String && lexeme.range.end - lexeme.range.begin > 2)
        add({lexeme.range.begin + 1, lexeme.range.end - 1});
    }
    for (const Range comment : lexed_.comments) add(comment);
  }

  void add_brackets() {
    for (size_t i = 0; i < lexed_.lexemes.size(); ++i) {
      if (!lexed_.opens(i) || lexed_.partner[i] == kNoLexeme) continue;
      const Range open = lexed_.lexemes[i].range, close = lexed_.lexemes[lexed_.partner[i]].range;
      add(without_blanks({open.end, close.begin}));
      add({open.end - 1, close.end});
    }
  }

  /// The `///` lines right above a declaration belong to it.
  void add_with_comment(Range declaration) {
    add(declaration);
    Range all = declaration;
    for (auto comment = lexed_.comments.rbegin(); comment != lexed_.comments.rend(); ++comment) {
      if (comment->end > all.begin) continue;
      const std::string_view between = text_.substr(comment->end, all.begin - comment->end);
      if (!lexed_.in_text(*comment).starts_with("///") ||
          between.find_first_not_of(" \t\r\n") != std::string_view::npos)
        break;
      all.begin = comment->begin;
    }
    add(all);
  }

  /// The ranges that nest, the smallest first.
  std::vector<Range> take() {
    ranges_.push_back({0, static_cast<uint32_t>(text_.size())});
    std::ranges::stable_sort(ranges_, {}, [](Range r) { return r.end - r.begin; });
    std::vector<Range> nested;
    for (const Range range : ranges_)
      if (nested.empty() || (contains(range, nested.back()) && range != nested.back()))
        nested.push_back(range);
    return nested;
  }

 private:
  Range without_blanks(Range range) const {
    constexpr std::string_view kBlanks = " \t\r\n";
    while (range.begin < range.end && kBlanks.find(text_[range.begin]) != std::string_view::npos)
      ++range.begin;
    while (range.begin < range.end && kBlanks.find(text_[range.end - 1]) != std::string_view::npos)
      --range.end;
    return range;
  }

  std::string_view text_;
  LexedText lexed_;
  uint32_t offset_;
  std::vector<Range> ranges_;
};

}  // namespace

std::vector<Range> selections(Session& session, SourceId source, uint32_t offset) {
  Selections found(session.text(source), offset);
  found.add_lexemes();
  if (const auto at = session.syntax_at(source, offset)) {
    for (const SyntaxPtr node : at->nodes) found.add(session.range_of({{at->declaration, node->id}, {}}));
    found.add_with_comment(at->range);
  }
  found.add_brackets();
  return found.take();
}

}  // namespace quern::ide
