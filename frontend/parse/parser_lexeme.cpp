#include <cctype>

#include "QuernParser.h"
#include "frontend/parse/parser_tokens.h"
#include "frontend/text/lexeme.h"

namespace quern {

namespace {

using P = quern_grammar::QuernParser;

LexemeKind lexeme_kind(uint16_t type, std::string_view text) {
  switch (type) {
    case P::LOCAL:
    case P::UNDERSCORE_LOCAL:
    case P::GRAPH: return LexemeKind::Local;
    case P::GLOBAL: return LexemeKind::Global;
    case P::NAME: return LexemeKind::Name;
    case P::INT:
    case P::FLOAT: return LexemeKind::Number;
    case P::STRING: return LexemeKind::String;
    case P::PROJECTION: return LexemeKind::Projection;
    case P::REDUCE: return LexemeKind::Symbol;
    case P::UNKNOWN: return LexemeKind::Unknown;
    // The literal words and symbols of the grammar's rules.
    default:
      bool word = std::isalpha(static_cast<unsigned char>(text.front())) && text.back() != '[';
      return word ? LexemeKind::Word : LexemeKind::Symbol;
  }
}

}  // namespace

std::vector<Lexeme> lex(std::string_view text, bool slash_names) {
  std::vector<Lexeme> lexemes;
  for (const auto& [type, range] : tokens_of(text, slash_names))
    if (type != kEndOfText)
      lexemes.push_back({lexeme_kind(type, text.substr(range.begin, range.end - range.begin)), range});
  return lexemes;
}

}  // namespace quern
