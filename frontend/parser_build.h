#pragma once
// From ANTLR's parse tree to the syntax tree. Included by the parser's own files only: it names ANTLR's
// types.

#include <algorithm>
#include <string>
#include <string_view>

#include "QuernParser.h"
#include "frontend/parser_offsets.h"
#include "frontend/syntax.h"

namespace quern {

/// The text that was parsed. ANTLR counts code points, spans count bytes.
class SourceMap {
 public:
  explicit SourceMap(std::string_view text) : text_(text), offsets_(text) {}

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
  /// What stands in the source, or (for a token that recovery made up) what the token says.
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

/// Fills `outcome.tree` and `outcome.spans` from a parse tree that may have holes (after recovery); malformed
/// literals are added to the problems.
void build_syntax(quern_grammar::QuernParser::UnitContext* unit, const SourceMap& source,
                  ParseOutcome& outcome);

}  // namespace quern
