#pragma once
// The parse tree of the grammar's rules, from which the syntax tree is built. Internal to the parser.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "QuernParser.h"
#include "frontend/parse/parser_tokens.h"
#include "ir/base/arena.h"

namespace quern {

/// A rule with its parts, or a token.
struct ParseNode {
  static constexpr uint16_t kNoRule = UINT16_MAX;

  uint16_t rule_index = kNoRule;
  uint16_t token_type = kEndOfText;
  Range range = {};
  std::string_view source = {};  ///< of a token; of one that recovery inserted, what stands for it
  std::span<const ParseNode* const> children = {};

  bool is_rule(size_t index) const { return rule_index == index; }
  bool is_token(size_t type) const { return rule_index == kNoRule && token_type == type; }
  bool is_token(std::string_view of_text) const { return rule_index == kNoRule && source == of_text; }
  const ParseNode* child(size_t i) const { return i < children.size() ? children[i] : nullptr; }

  /// The i-th part that is the rule, or null.
  const ParseNode* rule(size_t index, size_t i = 0) const {
    for (const ParseNode* part : children)
      if (part->is_rule(index) && i-- == 0) return part;
    return nullptr;
  }
  std::vector<const ParseNode*> rules(size_t index) const {
    std::vector<const ParseNode*> found;
    for (const ParseNode* part : children)
      if (part->is_rule(index)) found.push_back(part);
    return found;
  }
  /// The i-th part that is a token of the type, or null.
  const ParseNode* token(size_t type, size_t i = 0) const {
    for (const ParseNode* part : children)
      if (part->is_token(type) && i-- == 0) return part;
    return nullptr;
  }
  /// Whether a part is this word or symbol.
  bool has(std::string_view of_text) const {
    for (const ParseNode* part : children)
      if (part->is_token(of_text)) return true;
    return false;
  }
  // A part by the name of its rule.
#define QUERN_PART(name, Name) \
  const ParseNode* name(size_t i = 0) const { return rule(quern_grammar::QuernParser::Rule##Name, i); }
  QUERN_PART(item, Item)
  QUERN_PART(defDecl, DefDecl)
  QUERN_PART(opDecl, OpDecl)
  QUERN_PART(resultType, ResultType)
  QUERN_PART(typeDecl, TypeDecl)
  QUERN_PART(constructorName, ConstructorName)
  QUERN_PART(externTypeDecl, ExternTypeDecl)
  QUERN_PART(importDecl, ImportDecl)
  QUERN_PART(testDecl, TestDecl)
  QUERN_PART(infixDecl, InfixDecl)
  QUERN_PART(staticDecl, StaticDecl)
  QUERN_PART(typeParams, TypeParams)
  QUERN_PART(params, Params)
  QUERN_PART(noted, Noted)
  QUERN_PART(kind, Kind)
  QUERN_PART(bodies, Bodies)
  QUERN_PART(elseBody, ElseBody)
  QUERN_PART(statement, Statement)
  QUERN_PART(bound, Bound)
  QUERN_PART(block, Block)
  QUERN_PART(sequence, Sequence)
  QUERN_PART(scheduled, Scheduled)
  QUERN_PART(schedule, Schedule)
  QUERN_PART(expr, Expr)
  QUERN_PART(primary, Primary)
  QUERN_PART(literal, Literal)
  QUERN_PART(typeArguments, TypeArguments)
  QUERN_PART(arguments, Arguments)
  QUERN_PART(element, Element)
  QUERN_PART(binders, Binders)
  QUERN_PART(update, Update)
  QUERN_PART(pattern, Pattern)
  QUERN_PART(parts, Parts)
  QUERN_PART(type, Type)
  QUERN_PART(name, Name)
#undef QUERN_PART
  /// Its tokens' texts, without what is between them.
  std::string text() const;
};

/// The tree of a text without errors; null for other texts. Throws Interrupted soon after an interrupt.
const ParseNode* parse_tree(std::string_view text, const std::vector<ParserToken>& tokens, Arena& arena);

/// ANTLR's tree, which may have holes after recovery. A rule that broke before it was known which of its alternatives
/// the text has is without parts.
const ParseNode* parse_tree(std::string_view text, antlr4::ParserRuleContext* context, Arena& arena);

}  // namespace quern
