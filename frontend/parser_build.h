#pragma once
// From ANTLR's parse tree to the syntax tree. Included by the parser's own files only: it names ANTLR's
// types.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "QuernParser.h"
#include "frontend/syntax.h"

namespace quern {

/// The text that was parsed. ANTLR counts code points, spans count bytes.
class SourceMap {
 public:
  explicit SourceMap(std::string_view text);

  /// The byte at a code point; the text's size past its end.
  uint32_t offset(size_t code_point) const {
    if (starts_.empty()) return std::min(static_cast<uint32_t>(code_point), size_);
    return code_point < starts_.size() ? starts_[code_point] : size_;
  }
  Range span_of(antlr4::Token* token) const {
    return {offset(token->getStartIndex()), offset(token->getStopIndex() + 1)};
  }
  Range span_of(antlr4::ParserRuleContext* context) const;
  /// What stands in the source, or (for a token that recovery made up) what the token says.
  std::string text_of(antlr4::Token* token) const;

 private:
  std::string_view text_;
  uint32_t size_;
  std::vector<uint32_t> starts_;  ///< of code points; none where all are one byte
};

/// Fills `outcome.tree` and `outcome.spans` from a parse tree that may have holes (after recovery); malformed
/// literals are added to the problems.
void build_syntax(quern_grammar::QuernParser::UnitContext* unit, const SourceMap& source,
                  ParseOutcome& outcome);

}  // namespace quern
