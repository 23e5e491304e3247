#include "QuernLexer.h"
#include "frontend/parse/parser_offsets.h"
#include "frontend/text/lexeme.h"

namespace quern {

namespace {

using quern_grammar::QuernLexer;

LexemeKind kind_of(size_t type, std::string_view text) {
  switch (type) {
    case QuernLexer::LOCAL:
    case QuernLexer::UNDERSCORE_LOCAL:
    case QuernLexer::GRAPH: return LexemeKind::Local;
    case QuernLexer::GLOBAL: return LexemeKind::Global;
    case QuernLexer::NAME: return LexemeKind::Name;
    case QuernLexer::INT:
    case QuernLexer::FLOAT: return LexemeKind::Number;
    case QuernLexer::STRING: return LexemeKind::String;
    case QuernLexer::PROJECTION: return LexemeKind::Projection;
    case QuernLexer::REDUCE: return LexemeKind::Symbol;
    case QuernLexer::UNKNOWN: return LexemeKind::Unknown;
    // The literal words and symbols of the grammar's rules.
    default:
      bool word = std::isalpha(static_cast<unsigned char>(text.front())) && text.back() != '[';
      return word ? LexemeKind::Word : LexemeKind::Symbol;
  }
}

}  // namespace

std::vector<Lexeme> lex(std::string_view text, bool slash_names) {
  ByteOffsets offsets(text);
  antlr4::ANTLRInputStream input{std::string(text)};
  QuernLexer lexer(&input);
  lexer.slashNames = slash_names;
  lexer.removeErrorListeners();
  std::vector<Lexeme> lexemes;
  for (auto token = lexer.nextToken(); token->getType() != antlr4::Token::EOF; token = lexer.nextToken()) {
    Range range{offsets.of(token->getStartIndex()), offsets.of(token->getStopIndex() + 1)};
    lexemes.push_back({kind_of(token->getType(), text.substr(range.begin, range.end - range.begin)), range});
  }
  return lexemes;
}

}  // namespace quern
