#include "frontend/parse/parser_tree.h"

#include <algorithm>
#include <array>
#include <typeinfo>

namespace quern {

namespace {

using P = quern_grammar::QuernParser;

/// Whether a context is of a rule with labels and has none.
bool is_undecided(const antlr4::ParserRuleContext& context) {
  static const std::array kRules{
      &typeid(P::ParamContext),   &typeid(P::ClauseContext),  &typeid(P::BoundContext),
      &typeid(P::ExprContext),    &typeid(P::PrimaryContext), &typeid(P::IndexItemContext),
      &typeid(P::PatternContext), &typeid(P::PartsContext),   &typeid(P::TypeContext)};
  return std::ranges::any_of(kRules, [&](const std::type_info* type) { return *type == typeid(context); });
}

class Conversion {
 public:
  Conversion(std::string_view text, Arena& arena) : text_(text), arena_(arena) {}

  const ParseNode* rule(antlr4::ParserRuleContext* context) {
    std::vector<const ParseNode*> parts;
    if (!is_undecided(*context))
      for (antlr4::tree::ParseTree* part : context->children)
        if (const ParseNode* node = converted(part)) parts.push_back(node);
    antlr4::Token *start = context->getStart(), *stop = context->getStop();
    const uint32_t begin = start ? offset(start->getStartIndex()) : 0;
    const uint32_t end = stop ? offset(stop->getStopIndex() + 1) : begin;
    return arena_.make<ParseNode>(static_cast<uint16_t>(context->getRuleIndex()), kEndOfText,
                                  Range{begin, std::max(begin, end)}, std::string_view(), arena_.copy(parts));
  }

 private:
  const ParseNode* converted(antlr4::tree::ParseTree* part) {
    if (auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(part)) {
      // What recovery passed over is no part of the rule; what it inserted is.
      const bool is_error = dynamic_cast<antlr4::tree::ErrorNode*>(part);
      return is_error && is_in_source(*leaf->getSymbol()) ? nullptr : token(leaf->getSymbol());
    }
    return rule(dynamic_cast<antlr4::ParserRuleContext*>(part));
  }
  static bool is_in_source(const antlr4::Token& token) { return token.getStartIndex() != INVALID_INDEX; }
  const ParseNode* token(antlr4::Token* token) {
    if (token->getType() == antlr4::Token::EOF) return nullptr;
    const bool in_source = is_in_source(*token);
    const Range range = in_source ? Range{offset(token->getStartIndex()), offset(token->getStopIndex() + 1)}
                                  : Range{offset(SIZE_MAX), offset(SIZE_MAX)};
    const std::string_view source = in_source ? text_.substr(range.begin, range.end - range.begin)
                                              : arena_.copy(std::string_view(token->getText()));
    return arena_.make<ParseNode>(ParseNode::kNoRule, static_cast<uint16_t>(token->getType()), range, source);
  }
  uint32_t offset(size_t index) const { return static_cast<uint32_t>(std::min(index, text_.size())); }

  std::string_view text_;
  Arena& arena_;
};

}  // namespace

std::string ParseNode::text() const {
  if (rule_index == kNoRule) return std::string(source);
  std::string joined;
  for (const ParseNode* part : children) joined += part->text();
  return joined;
}

const ParseNode* parse_tree(std::string_view text, antlr4::ParserRuleContext* context, Arena& arena) {
  return Conversion(text, arena).rule(context);
}

}  // namespace quern
