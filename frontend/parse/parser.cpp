#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <shared_mutex>

#include "QuernBaseVisitor.h"
#include "QuernLexer.h"
#include "QuernParser.h"
#include "frontend/advice/advice.h"
#include "frontend/parse/parser_build.h"
#include "frontend/parse/parser_offsets.h"
#include "frontend/syntax/syntax.h"
#include "ir/base/interrupt.h"

namespace quern {

namespace {

using quern_grammar::QuernLexer;
using quern_grammar::QuernParser;

constexpr int kNestingLimit = 500;

LexedKind kind_of(antlr4::Token* token) {
  switch (token->getType()) {
    case QuernLexer::LOCAL:
    case QuernLexer::UNDERSCORE_LOCAL: return LexedKind::Local;
    case QuernLexer::GRAPH: return LexedKind::Graph;
    case QuernLexer::GLOBAL: return LexedKind::Global;
    case QuernLexer::INT:
    case QuernLexer::FLOAT:
    case QuernLexer::PROJECTION: return LexedKind::Number;
    case QuernLexer::STRING: return LexedKind::String;
    case QuernLexer::UNKNOWN: return LexedKind::Unknown;
  }
  char first = token->getText()[0];
  bool word = std::isalpha(static_cast<unsigned char>(first)) || first == '_';
  return word && token->getText().back() != '[' ? LexedKind::Name : LexedKind::Symbol;
}

// Collects the syntax errors of a declaration without follow-up errors: at most one per statement, and only
// the first if brackets do not match.
class Listener : public antlr4::BaseErrorListener {
 public:
  Listener(std::string_view text, const SourceMap& offsets, antlr4::CommonTokenStream& tokens,
           std::vector<SyntaxProblem>& problems)
      : text_(text), offsets_(offsets), tokens_(tokens), problems_(problems) {}

  void syntaxError(antlr4::Recognizer* recognizer, antlr4::Token* token, size_t, size_t, const std::string&,
                   std::exception_ptr reason) override {
    auto* parser = dynamic_cast<QuernParser*>(recognizer);
    if (!parser || !token) return;
    if (failure_.tokens.empty()) lex();
    failure_.at = position(token);
    if (!problems_.empty() && !is_new(failure_.at)) return;
    expect(*parser, reason);
    // After an error in a body the parser may have left it, and expect the end although brackets are open.
    bool at_end = parser->getExpectedTokens().contains(antlr4::Token::EOF);
    if (!problems_.empty() && at_end && inside_brackets(failure_.tokens, failure_.at)) return;
    last_ = failure_.at;
    problems_.push_back(advise(failure_));
  }

 private:
  void lex() {
    failure_.text = text_;
    for (antlr4::Token* t : tokens_.getTokens()) {
      if (t->getType() == antlr4::Token::EOF) continue;
      Range range{offsets_.offset(t->getStartIndex()), offsets_.offset(t->getStopIndex() + 1)};
      failure_.tokens.push_back({kind_of(t), text_.substr(range.begin, range.end - range.begin), range});
    }
    matched_ = brackets_match(failure_.tokens);
  }
  size_t position(antlr4::Token* token) const {
    uint32_t begin = offsets_.offset(token->getStartIndex());
    if (token->getType() == antlr4::Token::EOF) return failure_.tokens.size();
    auto at = std::lower_bound(failure_.tokens.begin(), failure_.tokens.end(), begin,
                               [](const LexedToken& t, uint32_t b) { return t.range.begin < b; });
    return static_cast<size_t>(at - failure_.tokens.begin());
  }
  bool is_new(size_t at) const {
    return matched_ && at != failure_.tokens.size() && statement_between(failure_.tokens, last_, at);
  }

  // What was expected, in a user's words. For a choice with lookahead the parser knows only its possible
  // first tokens, which does not help.
  void expect(QuernParser& parser, const std::exception_ptr& reason) {
    failure_.expected.clear();
    failure_.expectation.clear();
    failure_.wants_expression = false;
    auto expected = parser.getExpectedTokens();
    bool expression = expected.contains(static_cast<size_t>(QuernParser::INT)) &&
                      expected.contains(static_cast<size_t>(QuernParser::LOCAL));
    if (looked_ahead(reason) && !(expression && problem_is_at_choice(parser))) return;
    failure_.wants_expression = expression;
    if (expression) {
      failure_.expectation = "an expression";
      return;
    }
    std::vector<std::string> wanted;
    bool any_name = false;
    for (ssize_t type : expected.toList()) {
      std::string name = parser.getVocabulary().getDisplayName(static_cast<size_t>(type));
      if (name.size() > 2 && name.front() == '\'') {
        name = name.substr(1, name.size() - 2);
        failure_.expected.push_back(name);
        name = fmt::format("`{}`", name);
      }
      if (name == "EOF" || name == "<EOF>") name = "the end";
      if (name == "LOCAL") name = "a variable such as `%x`";
      if (name == "NAME") any_name = true;
      if (name == "GLOBAL") name = "a name such as `@f`";
      if (name == "STRING") name = "a string";
      if (name == "UNDERSCORE_LOCAL" || name == "`%_`" || name == "`_`") continue;
      wanted.push_back(name);
    }
    if (any_name)
      failure_.expectation =
          std::ranges::find(failure_.expected, "Tensor") == failure_.expected.end() ? "a name" : "a type";
    else if (wanted.size() <= 4)
      failure_.expectation = fmt::format("{}", fmt::join(wanted, " or "));
  }
  static bool looked_ahead(const std::exception_ptr& reason) {
    if (!reason) return false;
    try {
      std::rethrow_exception(reason);
    } catch (const antlr4::NoViableAltException& e) {
      return true;
    } catch (...) {
      return false;
    }
  }
  bool problem_is_at_choice(QuernParser& parser) const {
    antlr4::Token* now = parser.getCurrentToken();
    return now && position(now) == failure_.at;
  }

  std::string_view text_;
  const SourceMap& offsets_;
  antlr4::CommonTokenStream& tokens_;
  std::vector<SyntaxProblem>& problems_;
  SyntaxFailure failure_;
  size_t last_ = 0;
  bool matched_ = false;
};

// Brackets nested deeper than the limit would exhaust the parser's stack: refuse before it starts.
bool nesting_fits(antlr4::CommonTokenStream& tokens, const SourceMap& source,
                  std::vector<SyntaxProblem>& problems) {
  int depth = 0;
  for (antlr4::Token* token : tokens.getTokens()) {
    std::string text = source.text_of(token);
    if (text == "(" || text == "{" || text.back() == '[') ++depth;
    if (text == ")" || text == "}" || text == "]") --depth;
    if (depth <= kNestingLimit) continue;
    problems.push_back(
        {DiagnosticKind::NestingTooDeep, source.span_of(token),
         fmt::format("brackets are nested deeper than {} levels; name a part with `let`", kNestingLimit)});
    return false;
  }
  return true;
}

/// The parser's tables (ANTLR's DFA) grow with each new kind of text, especially malformed ones.
constexpr size_t kMostStates = 50000;
constexpr uint32_t kParsesBetweenLooks = 256;

std::shared_mutex& tables_mutex() {
  static std::shared_mutex mutex;
  return mutex;
}

size_t states_of(const antlr4::atn::ParserATNSimulator& simulator) {
  size_t count = 0;
  for (const antlr4::dfa::DFA& dfa : simulator.decisionToDFA) count += dfa.states.size();
  return count;
}

void bound_tables() {
  static std::atomic<uint32_t> parses = 0;
  if (++parses % kParsesBetweenLooks != 0) return;
  std::unique_lock lock(tables_mutex());
  QuernParser parser(nullptr);
  auto* simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  if (states_of(*simulator) > kMostStates) simulator->clearDFA();
}

ParseOutcome error_outcome(std::string_view text, ParseOutcome outcome) {
  auto arena = std::make_shared<Arena>();
  outcome.tree = {arena, arena->make<Syntax>(SyntaxKind::Error, 1u), 1};
  outcome.spans = {{0, static_cast<uint32_t>(text.size())}, {0, static_cast<uint32_t>(text.size())}};
  return outcome;
}

/// Throws Interrupted soon after an interrupt.
class InterruptibleLexer final : public QuernLexer {
 public:
  using QuernLexer::QuernLexer;
  std::unique_ptr<antlr4::Token> nextToken() override {
    stop_where_interrupted();
    return QuernLexer::nextToken();
  }
};

/// A strategy for errors, which the parser also asks at each part of a text; throws Interrupted there.
template <class Strategy>
class Interruptible final : public Strategy {
 public:
  void sync(antlr4::Parser* parser) override {
    stop_where_interrupted();
    Strategy::sync(parser);
  }
};

/// Requires the lock of the tables. Throws Interrupted soon after an interrupt.
ParseOutcome parse_text(std::string_view text, bool slash_names) {
  ParseOutcome outcome;
  std::string valid = with_valid_utf8(std::string(text));
  SourceMap offsets(valid);
  antlr4::ANTLRInputStream input{valid};
  InterruptibleLexer lexer(&input);
  lexer.slashNames = slash_names;
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  tokens.fill();
  if (!nesting_fits(tokens, offsets, outcome.problems)) return error_outcome(text, std::move(outcome));

  QuernParser parser(&tokens);
  parser.removeErrorListeners();
  // SLL prediction is many times faster and right for every error-free text; the full LL run, which reports
  // and recovers, handles the others.
  auto* simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<Interruptible<antlr4::BailErrorStrategy>>());
  QuernParser::UnitContext* unit = nullptr;
  Listener listener(text, offsets, tokens, outcome.problems);
  try {
    unit = parser.unit();
  } catch (const antlr4::ParseCancellationException&) {
    tokens.seek(0);
    parser.reset();
    parser.setErrorHandler(std::make_shared<Interruptible<antlr4::DefaultErrorStrategy>>());
    parser.addErrorListener(&listener);
    simulator->setPredictionMode(antlr4::atn::PredictionMode::LL);
    unit = parser.unit();
  }
  const InnerParser parse_inner = [&](std::string_view inner) { return parse_text(inner, slash_names); };
  build_syntax(unit, offsets, parse_inner, outcome);
  return outcome;
}

}  // namespace

ParseOutcome parse_declaration(std::string_view text, bool slash_names) {
  bound_tables();
  std::shared_lock lock(tables_mutex());
  try {
    return parse_text(text, slash_names);
  } catch (const Interrupted&) {
    return error_outcome(text, {});
  }
}

}  // namespace quern
