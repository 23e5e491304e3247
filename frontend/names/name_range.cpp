#include "frontend/names/name_range.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "frontend/text/lexeme.h"

namespace quern {

namespace {

/// Whether a node begins with a word of the grammar, which may equal its name: `type type { … }`.
bool begins_with_word(SyntaxPtr node) {
  switch (node->kind) {
    case SyntaxKind::Def:
    case SyntaxKind::Op:
    case SyntaxKind::ExternOp:
    case SyntaxKind::TypeDecl:
    case SyntaxKind::ExternType:
    case SyntaxKind::TypeAlias:
    case SyntaxKind::Static:
    case SyntaxKind::StaticClause:
    case SyntaxKind::Let:
    case SyntaxKind::FreeVar: return true;
    default: return false;
  }
}

/// The parts of a node's text outside its children, in order.
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

bool is_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// The end of the comment, string or blank that begins at a place; the place itself if none does.
size_t end_of_skipped(std::string_view text, size_t at) {
  if (const size_t end = comment_end(text, at).end; end != at) return end;
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("\"")) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\') ++at;
    return std::min(at + 1, text.size());
  }
  return !rest.empty() && std::isspace(static_cast<unsigned char>(rest[0])) ? at + 1 : at;
}

/// The position of a name as a whole word in a text, or npos; `skips_word`: skip the first word.
size_t find_name(std::string_view text, std::string_view name, bool& skips_word) {
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = end_of_skipped(text, at); end != at) {
      at = end;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const bool counts = end == at || !std::exchange(skips_word, false);
    const size_t after = at + name.size();
    const bool whole = after >= text.size() || !is_word(text[after]) || !is_word(name.back());
    if (counts && whole && text.substr(at).starts_with(name)) return at;
    at = std::max(end, at + 1);
  }
  return std::string_view::npos;
}

}  // namespace

Range name_range(SyntaxPtr node, std::string_view text, const std::vector<Range>& spans) {
  const std::string_view name = written_name(node);
  if (name.empty()) return {};
  bool skips_word = begins_with_word(node);
  for (Range part : own_parts(node, spans)) {
    const size_t found = find_name(text.substr(part.begin, part.end - part.begin), name, skips_word);
    if (found == std::string_view::npos) continue;
    const uint32_t begin = part.begin + static_cast<uint32_t>(found);
    return {begin, begin + static_cast<uint32_t>(name.size())};
  }
  return {};
}

}  // namespace quern
