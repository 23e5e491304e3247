#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <shared_mutex>

#include "QuernParser.h"
#include "frontend/advice/advice.h"
#include "frontend/parse/parser_build.h"
#include "frontend/parse/parser_tree.h"
#include "frontend/syntax/syntax.h"
#include "ir/base/interrupt.h"

namespace quern {

namespace {

using quern_grammar::QuernParser;

constexpr int kNestingLimit = 500;

LexedKind kind_of(uint16_t type, std::string_view text) {
  switch (type) {
    case QuernParser::LOCAL:
    case QuernParser::UNDERSCORE_LOCAL: return LexedKind::Local;
    case QuernParser::GRAPH: return LexedKind::Graph;
    case QuernParser::GLOBAL: return LexedKind::Global;
    case QuernParser::INT:
    case QuernParser::FLOAT:
    case QuernParser::PROJECTION: return LexedKind::Number;
    case QuernParser::STRING: return LexedKind::String;
    case QuernParser::UNKNOWN: return LexedKind::Unknown;
  }
  const char first = text.front();
  bool word = std::isalpha(static_cast<unsigned char>(first)) || first == '_';
  return word && text.back() != '[' ? LexedKind::Name : LexedKind::Symbol;
}

// Collects the syntax errors of a declaration without follow-up errors: at most one per statement, and only
// the first if brackets do not match.
class Listener : public antlr4::BaseErrorListener {
 public:
  Listener(std::string_view text, const std::vector<ParserToken>& tokens,
           std::vector<SyntaxProblem>& problems)
      : text_(text), tokens_(tokens), problems_(problems) {}

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
    for (const auto& [type, range] : tokens_) {
      if (type == kEndOfText) continue;
      const std::string_view text = text_.substr(range.begin, range.end - range.begin);
      failure_.tokens.push_back({kind_of(type, text), text, range});
    }
    matched_ = brackets_match(failure_.tokens);
  }
  /// Of the token, or of the one that follows where recovery inserted it.
  size_t position(antlr4::Token* token) const {
    if (token->getType() == antlr4::Token::EOF) return failure_.tokens.size();
    const size_t begin = std::min<size_t>(token->getStartIndex(), text_.size());
    auto at = std::lower_bound(failure_.tokens.begin(), failure_.tokens.end(), begin,
                               [](const LexedToken& t, size_t b) { return t.range.begin < b; });
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
  const std::vector<ParserToken>& tokens_;
  std::vector<SyntaxProblem>& problems_;
  SyntaxFailure failure_;
  size_t last_ = 0;
  bool matched_ = false;
};

// Brackets nested deeper than the limit would exhaust the parser's stack: refuse before it starts.
bool nesting_fits(std::string_view source, const std::vector<ParserToken>& tokens,
                  std::vector<SyntaxProblem>& problems) {
  int depth = 0;
  for (const auto& [type, range] : tokens) {
    if (type == kEndOfText) return true;
    const char first = source[range.begin], last = source[range.end - 1];
    // `sum[` opens a bracket too.
    if (range.end == range.begin + 1 ? first == '(' || first == '{' || first == '[' : last == '[') ++depth;
    if (range.end == range.begin + 1 && (first == ')' || first == '}' || first == ']')) --depth;
    if (depth <= kNestingLimit) continue;
    problems.push_back(
        {DiagnosticKind::NestingTooDeep, range,
         fmt::format("brackets are nested deeper than {} levels; name a part with `let`", kNestingLimit)});
    return false;
  }
  return true;
}

/// ANTLR's tables (its DFA) grow with each new kind of text, especially malformed ones: what the walk chooses without
/// errors it keeps itself, and needs a few thousand configurations, of some hundred bytes, once.
constexpr size_t kMostConfigurations = 4096;
constexpr uint32_t kParsesBetweenLooks = 256;

std::shared_mutex& tables_mutex() {
  static std::shared_mutex mutex;
  return mutex;
}

size_t configurations_of(const antlr4::atn::ParserATNSimulator& simulator) {
  size_t count = 0;
  for (const antlr4::dfa::DFA& dfa : simulator.decisionToDFA)
    for (const antlr4::dfa::DFAState* state : dfa.states) count += state->configs->size();
  return count;
}

void bound_tables() {
  static std::atomic<uint32_t> parses = 0;
  if (++parses % kParsesBetweenLooks != 0) return;
  std::unique_lock lock(tables_mutex());
  QuernParser parser(nullptr);
  auto* simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  if (configurations_of(*simulator) > kMostConfigurations) simulator->clearDFA();
}

ParseOutcome error_outcome(std::string_view text, ParseOutcome outcome) {
  auto arena = std::make_shared<Arena>();
  const SyntaxPtr root = arena->make<Syntax>(SyntaxKind::Error, 1u);
  outcome.tree = {arena, root, root, 1};
  outcome.spans = {{0, static_cast<uint32_t>(text.size())}, {0, static_cast<uint32_t>(text.size())}};
  return outcome;
}

/// The tokens of a text for ANTLR's parser.
class TokensOfText final : public antlr4::TokenSource {
 public:
  TokensOfText(std::string_view text, const std::vector<ParserToken>& tokens)
      : text_(text), tokens_(tokens) {}

  std::unique_ptr<antlr4::Token> nextToken() override {
    stop_where_interrupted();
    const auto& [type, range] = tokens_[std::min(at_++, tokens_.size() - 1)];
    const bool ends = type == kEndOfText;
    return getTokenFactory()->create(
        {this, nullptr}, ends ? antlr4::Token::EOF : type,
        ends ? "<EOF>" : std::string(text_.substr(range.begin, range.end - range.begin)),
        antlr4::Token::DEFAULT_CHANNEL, range.begin, static_cast<size_t>(range.end) - 1, 0, 0);
  }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream* getInputStream() override { return nullptr; }
  std::string getSourceName() override { return {}; }
  antlr4::TokenFactory<antlr4::CommonToken>* getTokenFactory() override {
    return antlr4::CommonTokenFactory::DEFAULT.get();
  }

 private:
  std::string_view text_;
  const std::vector<ParserToken>& tokens_;
  size_t at_ = 0;
};

/// Recovery from errors, which the parser asks at each part of a text; throws Interrupted there.
class InterruptibleRecovery final : public antlr4::DefaultErrorStrategy {
 public:
  void sync(antlr4::Parser* parser) override {
    stop_where_interrupted();
    DefaultErrorStrategy::sync(parser);
  }
};

/// The tree of a text with errors, which are added to the problems.
const ParseNode* recovered_tree(std::string_view text, const std::vector<ParserToken>& tokens, Arena& arena,
                                std::vector<SyntaxProblem>& problems) {
  TokensOfText source(text, tokens);
  antlr4::CommonTokenStream stream(&source);
  QuernParser parser(&stream);
  Listener listener(text, tokens, problems);
  parser.removeErrorListeners();
  parser.addErrorListener(&listener);
  parser.setErrorHandler(std::make_shared<InterruptibleRecovery>());
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
      antlr4::atn::PredictionMode::LL);
  return parse_tree(text, parser.unit(), arena);
}

/// Requires the lock of the tables. Throws Interrupted soon after an interrupt.
ParseOutcome parse_text(std::string_view text, bool slash_names) {
  ParseOutcome outcome;
  const std::vector<ParserToken> tokens = tokens_of(text, slash_names);
  if (!nesting_fits(text, tokens, outcome.problems)) return error_outcome(text, std::move(outcome));
  Arena arena;
  const ParseNode* unit = parse_tree(text, tokens, arena);
  if (!unit) unit = recovered_tree(text, tokens, arena, outcome.problems);
  const InnerParser parse_inner = [&](std::string_view inner) { return parse_text(inner, slash_names); };
  build_syntax(*unit, text, parse_inner, outcome);
  return outcome;
}

}  // namespace

ParseOutcome parse_declaration(std::string_view text, bool slash_names) {
  bound_tables();
  std::shared_lock lock(tables_mutex());
  try {
    return parse_text(with_valid_utf8(std::string(text)), slash_names);
  } catch (const Interrupted&) {
    return error_outcome(text, {});
  }
}

}  // namespace quern
