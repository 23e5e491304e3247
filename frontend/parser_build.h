#pragma once
// From ANTLR's parse tree to the syntax tree. Included by the parser's own files only: it names ANTLR's
// types.

#include <functional>

#include "QuernParser.h"
#include "frontend/syntax.h"

namespace quern {

/// Fills `outcome.tree` and `outcome.spans` from a parse tree that may have holes (after recovery); malformed
/// literals are added to the problems.
void build_syntax(quern_grammar::QuernParser::UnitContext* unit,
                  const std::function<Range(antlr4::ParserRuleContext*)>& span_of,
                  const std::function<Range(antlr4::Token*)>& span_of_token, ParseOutcome& outcome);

}  // namespace quern
