#pragma once
// From the parse tree to the syntax tree. Internal to the parser.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/parse/parser_tree.h"
#include "frontend/syntax/syntax.h"
#include "frontend/text/format_string.h"

namespace quern {

/// Shared by the builders of syntax nodes. A second walk assigns ids in preorder, once the tree's shape is
/// final.
class NodeMaker {
 public:
  using Part = const ParseNode*;
  using Nodes = std::vector<SyntaxPtr>;

  explicit NodeMaker(Arena& arena) : arena_(arena) {}

  std::vector<std::pair<Syntax*, Range>> made;  ///< every node with its span

  SyntaxPtr make_at(Range range, SyntaxKind kind, std::string_view text, const Nodes& children) {
    Syntax* node = arena_.make<Syntax>(kind, 0u, arena_.copy(text), arena_.copy(children));
    // The index into `made` stands in for the id until numbering.
    node->id = static_cast<uint32_t>(made.size());
    made.emplace_back(node, range);
    return node;
  }
  SyntaxPtr make(Part c, SyntaxKind kind, std::string_view text, const Nodes& children) {
    return make_at(c ? c->range : Range{}, kind, text, children);
  }
  // The range of an empty list: empty, so that it covers nothing of its owner.
  static Range start_of(Part owner) { return {owner->range.begin, owner->range.begin}; }
  // Spans from one node to another; without a last one, an empty list before the first.
  SyntaxPtr list(Part first, Part last, SyntaxKind kind, const Nodes& items) {
    Range range = start_of(first);
    if (last) range.end = last->range.end;
    return make_at(range, kind, "", items);
  }
  SyntaxPtr error(Part c) { return make(c, SyntaxKind::Error, "", {}); }
  // Of several tokens, their texts without anything between them.
  static std::string text(Part c) { return c ? c->text() : ""; }
  /// Of a name, without its sigil.
  static std::string_view strip(Part token) { return token ? token->source.substr(1) : ""; }
  SyntaxPtr name(Part c) { return make(c, SyntaxKind::Name, text(c), {}); }

  static std::string string(Part token) {
    const std::string_view raw = token ? token->source : "";
    return raw.size() < 2 ? std::string(raw) : unescaped(raw.substr(1, raw.size() - 2)).text;
  }

 private:
  Arena& arena_;
};

/// The tree of a schedule.
SyntaxPtr build_schedule(NodeMaker& make, const ParseNode* schedule);

/// Parses a text nested in the one being parsed.
using InnerParser = std::function<ParseOutcome(std::string_view text)>;

/// An argument of `print`: a string with values in braces becomes a FormatString, others are unchanged.
SyntaxPtr build_printed(NodeMaker& make, SyntaxPtr argument, std::string_view text, const InnerParser& parse,
                        std::vector<SyntaxProblem>& problems);

/// Fills `outcome.tree` and `outcome.spans` from a parse tree that may have holes (after recovery); adds
/// malformed literals to the problems.
void build_syntax(const ParseNode& unit, std::string_view text, const InnerParser& parse_inner,
                  ParseOutcome& outcome);

}  // namespace quern
