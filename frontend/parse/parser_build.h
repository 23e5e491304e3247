#pragma once
// From ANTLR's parse tree to the syntax tree. Included only by the parser's files, since it uses ANTLR's
// types.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "QuernParser.h"
#include "frontend/parse/parser_offsets.h"
#include "frontend/syntax/syntax.h"
#include "frontend/text/format_string.h"

namespace quern {

/// The parsed text. ANTLR counts code points, spans count bytes.
class SourceMap {
 public:
  explicit SourceMap(std::string_view text) : text_(text), offsets_(text) {}

  std::string_view text() const { return text_; }
  /// The byte at a code point; the text's size past its end.
  uint32_t offset(size_t code_point) const { return offsets_.of(code_point); }
  Range span_of(antlr4::Token* token) const {
    return {offset(token->getStartIndex()), offset(token->getStopIndex() + 1)};
  }
  Range span_of(antlr4::ParserRuleContext* context) const {
    antlr4::Token *start = context->getStart(), *stop = context->getStop();
    uint32_t begin = start ? offset(start->getStartIndex()) : 0;
    uint32_t end = stop ? offset(stop->getStopIndex() + 1) : begin;
    return {begin, std::max(begin, end)};
  }
  /// The token's source text or, for a token inserted by recovery, the token's own.
  std::string text_of(antlr4::Token* token) const {
    bool in_source = token->getStartIndex() != INVALID_INDEX && token->getType() != antlr4::Token::EOF;
    if (!in_source) return token->getText();
    Range range = span_of(token);
    return std::string(text_.substr(range.begin, range.end - std::min(range.begin, range.end)));
  }

 private:
  std::string_view text_;
  ByteOffsets offsets_;
};

/// Shared by the builders of syntax nodes. A second walk assigns ids in preorder, once the tree's shape is
/// final.
class NodeMaker {
 public:
  using P = quern_grammar::QuernParser;
  using Nodes = std::vector<SyntaxPtr>;

  NodeMaker(Arena& arena, const SourceMap& source) : arena_(arena), source_(source) {}

  std::vector<std::pair<Syntax*, Range>> made;  ///< every node with its span

  SyntaxPtr make_at(Range range, SyntaxKind kind, std::string_view text, const Nodes& children) {
    Syntax* node = arena_.make<Syntax>(kind, 0u, arena_.copy(text), arena_.copy(children));
    // The index into `made` stands in for the id until numbering.
    node->id = static_cast<uint32_t>(made.size());
    made.emplace_back(node, range);
    return node;
  }
  SyntaxPtr make(antlr4::ParserRuleContext* c, SyntaxKind kind, std::string_view text,
                 const Nodes& children) {
    return make_at(c ? source_.span_of(c) : Range{}, kind, text, children);
  }
  // The range of an empty list: empty, so that it covers nothing of its owner.
  Range start_of(antlr4::ParserRuleContext* owner) {
    Range range = source_.span_of(owner);
    return {range.begin, range.begin};
  }
  // Spans from one node to another; without a last one, an empty list before the first.
  SyntaxPtr list(antlr4::ParserRuleContext* first, antlr4::ParserRuleContext* last, SyntaxKind kind,
                 const Nodes& items) {
    Range range = start_of(first);
    if (last) range.end = source_.span_of(last).end;
    return make_at(range, kind, "", items);
  }
  SyntaxPtr error(antlr4::ParserRuleContext* c) { return make(c, SyntaxKind::Error, "", {}); }
  // The text of a single token is its source; of several tokens, their texts without anything between them.
  std::string text(antlr4::ParserRuleContext* c) {
    if (!c) return "";
    bool one_token = c->getStart() && c->getStart() == c->getStop() && c->children.size() == 1;
    return one_token ? text(c->getStart()) : c->getText();
  }
  std::string text(antlr4::tree::TerminalNode* t) { return t ? text(t->getSymbol()) : ""; }
  std::string text(antlr4::Token* t) { return t ? source_.text_of(t) : ""; }
  std::string text(antlr4::tree::ParseTree* t) {
    auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(t);
    return leaf ? text(leaf) : t->getText();
  }
  std::string strip(antlr4::tree::TerminalNode* t) { return t ? text(t).substr(1) : ""; }
  SyntaxPtr name(P::NameContext* c) { return make(c, SyntaxKind::Name, text(c), {}); }

  std::string string(antlr4::tree::TerminalNode* token) {
    const std::string raw = text(token);
    return raw.size() < 2 ? raw : unescaped(std::string_view(raw).substr(1, raw.size() - 2)).text;
  }

 protected:
  Arena& arena_;
  const SourceMap& source_;
};

/// The tree of a schedule.
SyntaxPtr build_schedule(NodeMaker& make, quern_grammar::QuernParser::ScheduleContext* schedule);

/// Parses a text nested in the one being parsed.
using InnerParser = std::function<ParseOutcome(std::string_view text)>;

/// An argument of `print`: a string with values in braces becomes a FormatString, others are unchanged.
SyntaxPtr build_printed(NodeMaker& make, SyntaxPtr argument, std::string_view text, const InnerParser& parse,
                        std::vector<SyntaxProblem>& problems);

/// Fills `outcome.tree` and `outcome.spans` from a parse tree that may have holes (after recovery); adds
/// malformed literals to the problems.
void build_syntax(quern_grammar::QuernParser::UnitContext* unit, const SourceMap& source,
                  const InnerParser& parse_inner, ParseOutcome& outcome);

}  // namespace quern
