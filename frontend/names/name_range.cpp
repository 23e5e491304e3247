#include "frontend/names/name_range.h"

#include <algorithm>

#include "frontend/text/lexeme.h"

namespace quern {

namespace {

/// Whether a node begins with a word of the grammar, which a name may be equal to: `type type { … }`.
bool begins_with_word(SyntaxPtr node) {
  switch (node->kind) {
    case SyntaxKind::Def:
    case SyntaxKind::Op:
    case SyntaxKind::ExternOp:
    case SyntaxKind::TypeDecl:
    case SyntaxKind::ExternType:
    case SyntaxKind::Static:
    case SyntaxKind::StaticClause:
    case SyntaxKind::Let:
    case SyntaxKind::FreeVar: return true;
    default: return false;
  }
}

/// What a node's text has outside of its children, in order.
std::vector<Range> own_parts(SyntaxPtr node, const std::vector<Range>& spans) {
  std::vector<Range> children, parts;
  for (SyntaxPtr c : node->children)
    if (c && spans[c->id].begin < spans[c->id].end) children.push_back(spans[c->id]);
  std::ranges::sort(children, {}, &Range::begin);
  uint32_t at = spans[node->id].begin;
  for (Range child : children) {
    if (at < child.begin) parts.push_back({at, child.begin});
    at = std::max(at, child.end);
  }
  if (at < spans[node->id].end) parts.push_back({at, spans[node->id].end});
  return parts;
}

/// Whether a token is the name, with a sigil or without.
bool is_name(std::string_view token, std::string_view name) {
  if (token.ends_with(name)) token.remove_suffix(name.size());
  return token.empty() || token == "%" || token == "@";
}

}  // namespace

Range name_range(SyntaxPtr node, std::string_view text, const std::vector<Range>& spans) {
  const std::string_view name = written_name(node);
  bool word = begins_with_word(node);
  for (Range part : own_parts(node, spans))
    for (const Lexeme& token : lex(text.substr(part.begin, part.end - part.begin), true)) {
      if (std::exchange(word, false)) continue;
      const Range at{part.begin + token.range.begin, part.begin + token.range.end};
      if (is_name(text.substr(at.begin, at.end - at.begin), name))
        return {at.end - static_cast<uint32_t>(name.size()), at.end};
    }
  return {};
}

}  // namespace quern
