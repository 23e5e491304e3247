#include "ide/refactoring.h"

#include <algorithm>

namespace quern::ide {

namespace {

Range without_blanks(std::string_view text, Range range) {
  constexpr std::string_view kBlanks = " \t\r\n";
  while (range.begin < range.end && kBlanks.find(text[range.begin]) != std::string_view::npos) ++range.begin;
  while (range.begin < range.end && kBlanks.find(text[range.end - 1]) != std::string_view::npos) --range.end;
  return range;
}

}  // namespace

std::optional<Selection> Selection::of(Session& session, const SelectedRange& selected,
                                       const RefactoringContext& context) {
  Selection found(session, context);
  found.source = selected.source;
  const std::string& text = session.text(selected.source);
  const auto size = static_cast<uint32_t>(text.size());
  found.range = {std::min(selected.range.begin, size), std::min(selected.range.end, size)};
  found.range.end = std::max(found.range.begin, found.range.end);
  if (found.range.begin < found.range.end) found.range = without_blanks(text, found.range);
  const std::optional<SyntaxPath> at = session.syntax_at(selected.source, found.range.begin);
  if (!at) return std::nullopt;
  found.at = *at;
  SyntaxPtr node = session.declaration(at->declaration).syntax;
  while (node) {
    found.around.push_back(node);
    SyntaxPtr inner = nullptr;
    for (SyntaxPtr child : node->children) {
      if (!child) continue;
      const Range range = found.range_of(child);
      if (range.begin <= found.range.begin && found.range.end <= range.end && range.begin < range.end)
        inner = child;
    }
    node = inner;
  }
  return found;
}

Type Selection::type_of(SyntaxPtr node) const {
  const std::vector<Type>& types = session.types_of(at.declaration);
  const Type type = node->id < types.size() ? types[node->id] : nullptr;
  return type && !contains_error(type) ? type : nullptr;
}

SyntaxPtr Selection::expression() const {
  if (range.begin == range.end) return nullptr;
  for (SyntaxPtr node : around) {
    if (range_of(node) != range || !type_of(node)) continue;
    return can_be_extracted(node) ? node : nullptr;
  }
  return nullptr;
}

const LexedText& Selection::lexed() const {
  if (!lexed_) lexed_ = lexed_text(text());
  return *lexed_;
}

uint32_t Selection::begin_with_comment() const {
  uint32_t begin = at.range.begin;
  for (auto comment = lexed().comments.rbegin(); comment != lexed().comments.rend(); ++comment) {
    if (comment->end > begin) continue;
    const bool is_above = text_of({comment->end, begin}).find_first_not_of(" \t\r\n") == std::string::npos;
    if (!lexed().in_text(*comment).starts_with("///") || !is_above) break;
    begin = comment->begin;
  }
  return begin;
}

}  // namespace quern::ide
