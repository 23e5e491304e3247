#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "QuernBaseVisitor.h"
#include "QuernLexer.h"
#include "QuernParser.h"
#include "frontend/parser_build.h"
#include "frontend/syntax.h"

namespace quern {

namespace {

using quern_grammar::QuernLexer;
using quern_grammar::QuernParser;

constexpr int kNestingLimit = 1000;

// ANTLR counts code points, spans count bytes.
class ByteOffsets {
 public:
  explicit ByteOffsets(std::string_view text) : size_(static_cast<uint32_t>(text.size())) {
    bool ascii =
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii) return;
    for (uint32_t i = 0; i < text.size(); ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts_.push_back(i);
  }
  uint32_t of(size_t code_point) const {
    if (starts_.empty()) return std::min(static_cast<uint32_t>(code_point), size_);
    return code_point < starts_.size() ? starts_[code_point] : size_;
  }

 private:
  uint32_t size_;
  std::vector<uint32_t> starts_;
};

std::string describe(antlr4::Token* token) {
  std::string text = token->getText();
  return "`" + (text.size() > 40 ? text.substr(0, 37) + "…" : text) + "`";
}

// The first syntax error of a declaration: later ones follow from it more often than not.
class Listener : public antlr4::BaseErrorListener {
 public:
  Listener(const ByteOffsets& offsets, std::vector<SyntaxProblem>& problems)
      : offsets_(offsets), problems_(problems) {}

  void syntaxError(antlr4::Recognizer* recognizer, antlr4::Token* token, size_t, size_t, const std::string&,
                   std::exception_ptr) override {
    if (!problems_.empty() || !token) return;
    Range range{offsets_.of(token->getStartIndex()), offsets_.of(token->getStopIndex() + 1)};
    if (token->getType() == antlr4::Token::EOF) range = {offsets_.of(SIZE_MAX), offsets_.of(SIZE_MAX)};
    problems_.push_back({DiagnosticKind::UnexpectedToken, range, message(recognizer, token)});
  }

 private:
  static std::string message(antlr4::Recognizer* recognizer, antlr4::Token* token) {
    bool at_end = token->getType() == antlr4::Token::EOF;
    std::string text = at_end ? "the text ends too early" : "unexpected " + describe(token);
    auto* parser = dynamic_cast<QuernParser*>(recognizer);
    if (!parser) return text;
    if (std::string expected = expectation(*parser); !expected.empty()) text += "; expected " + expected;
    if (token->getText() == "=") text += "; a variable is bound with `let %x = …`";
    if (token->getType() == QuernLexer::UNKNOWN && token->getText() == "\"")
      text = "this string has no closing quote";
    return text;
  }

  // What could have stood here, in a user's words; nothing where that is too much to tell.
  static std::string expectation(QuernParser& parser) {
    auto expected = parser.getExpectedTokens();
    if (expected.contains(static_cast<size_t>(QuernParser::INT)) &&
        expected.contains(static_cast<size_t>(QuernParser::LOCAL)))
      return "an expression";
    std::vector<std::string> wanted;
    for (ssize_t type : expected.toList()) {
      std::string name = parser.getVocabulary().getDisplayName(static_cast<size_t>(type));
      if (name == "EOF" || name == "<EOF>") name = "the end";
      if (name == "LOCAL") name = "a variable such as `%x`";
      if (name == "NAME") return "a name";
      if (name == "GLOBAL") name = "a name such as `@f`";
      if (name == "STRING") name = "a string";
      if (name == "UNDERSCORE_LOCAL" || name == "'%_'" || name == "'_'") continue;
      if (name.size() > 2 && name.front() == '\'') name = "`" + name.substr(1, name.size() - 2) + "`";
      wanted.push_back(name);
    }
    return wanted.size() <= 4 ? fmt::format("{}", fmt::join(wanted, " or ")) : "";
  }

  const ByteOffsets& offsets_;
  std::vector<SyntaxProblem>& problems_;
};

// Brackets nested deeper than the limit would exhaust the parser's stack: refuse before it starts.
bool nesting_fits(antlr4::CommonTokenStream& tokens, const ByteOffsets& offsets,
                  std::vector<SyntaxProblem>& problems) {
  int depth = 0;
  for (antlr4::Token* token : tokens.getTokens()) {
    std::string text = token->getText();
    if (text == "(" || text == "{" || text.back() == '[') ++depth;
    if (text == ")" || text == "}" || text == "]") --depth;
    if (depth <= kNestingLimit) continue;
    problems.push_back(
        {DiagnosticKind::NestingTooDeep,
         {offsets.of(token->getStartIndex()), offsets.of(token->getStopIndex() + 1)},
         fmt::format("brackets are nested deeper than {} levels; name a part with `let`", kNestingLimit)});
    return false;
  }
  return true;
}

ParseOutcome error_outcome(std::string_view text, ParseOutcome outcome) {
  auto arena = std::make_shared<Arena>();
  outcome.tree = {arena, arena->make<Syntax>(SyntaxKind::Error, 1u), 1};
  outcome.spans = {{0, static_cast<uint32_t>(text.size())}, {0, static_cast<uint32_t>(text.size())}};
  return outcome;
}

}  // namespace

ParseOutcome parse_declaration(std::string_view text, bool slash_names) {
  ParseOutcome outcome;
  ByteOffsets offsets(text);
  antlr4::ANTLRInputStream input{std::string(text)};
  QuernLexer lexer(&input);
  lexer.slashNames = slash_names;
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  tokens.fill();
  if (!nesting_fits(tokens, offsets, outcome.problems)) return error_outcome(text, std::move(outcome));

  QuernParser parser(&tokens);
  parser.removeErrorListeners();
  // SLL prediction is many times faster and right for every text that has no error; the full LL run, which
  // reports and recovers, is for the others.
  auto* simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  QuernParser::UnitContext* unit = nullptr;
  Listener listener(offsets, outcome.problems);
  try {
    unit = parser.unit();
  } catch (const antlr4::ParseCancellationException&) {
    tokens.seek(0);
    parser.reset();
    parser.setErrorHandler(std::make_shared<antlr4::DefaultErrorStrategy>());
    parser.addErrorListener(&listener);
    simulator->setPredictionMode(antlr4::atn::PredictionMode::LL);
    unit = parser.unit();
  }
  auto span_of = [&](antlr4::ParserRuleContext* context) {
    antlr4::Token *start = context->getStart(), *stop = context->getStop();
    uint32_t begin = start ? offsets.of(start->getStartIndex()) : 0;
    uint32_t end = stop ? offsets.of(stop->getStopIndex() + 1) : begin;
    return Range{begin, std::max(begin, end)};
  };
  auto span_of_token = [&](antlr4::Token* token) {
    return Range{offsets.of(token->getStartIndex()), offsets.of(token->getStopIndex() + 1)};
  };
  build_syntax(unit, span_of, span_of_token, outcome);
  return outcome;
}

}  // namespace quern
