// Parsing of texts without errors: a walk over the network of states (ATN) that ANTLR makes of the grammar.
//
// Where a rule has several ways on, the next token decides if it can begin one of them alone, else ANTLR's own prediction
// (SLL) at first sight. What it looked at decides alone, so the choice is kept by these tokens, and made again without
// ANTLR, whose predictions take a third of a millisecond in all when a process begins. ANTLR's parser would do the same
// walk, but pays for each rule what recovery needs.

#include <algorithm>
#include <array>
#include <unordered_map>

#include "frontend/parse/parser_tree.h"
#include "ir/base/interrupt.h"
#include "ir/base/result.h"

namespace quern {

namespace {

using P = quern_grammar::QuernParser;
using antlr4::atn::ATNState;
using antlr4::atn::Transition;

constexpr size_t kTypes = 96, kPrecedences = 32;
constexpr size_t kOpenParts = 64;  ///< of rules that are open at once, in most texts

/// The text has an error.
struct SyntaxFails {};

/// The tokens from one on, as ANTLR's prediction reads them; tells how far it looked.
class Lookahead final : public antlr4::TokenStream {
 public:
  Lookahead(const std::vector<ParserToken>& tokens, size_t begin) : tokens_(tokens), at_(begin) {}

  size_t furthest = 0;

  size_t LA(ssize_t offset) override {
    const size_t i = std::min(at_ + static_cast<size_t>(offset) - 1, tokens_.size() - 1);
    furthest = std::max(furthest, i);
    return tokens_[i].type == kEndOfText ? antlr4::Token::EOF : tokens_[i].type;
  }
  void consume() override { ++at_; }
  ssize_t mark() override { return 0; }
  void release(ssize_t /*marker*/) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return {}; }
  antlr4::Token* LT(ssize_t /*offset*/) override { return nullptr; }
  antlr4::Token* get(size_t /*index*/) const override { return nullptr; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval& /*interval*/) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext* /*context*/) override { return {}; }
  std::string getText(antlr4::Token* /*start*/, antlr4::Token* /*stop*/) override { return {}; }

 private:
  const std::vector<ParserToken>& tokens_;
  size_t at_;
};

/// The states of the grammar, as the walk reads them.
class Network {
 public:
  enum class Kind : uint8_t { Step, Token, Set, Rule, Precedence, Choice, Stop };
  struct Branch {
    uint32_t target;
    bool wraps;  ///< what the rule has so far becomes the first part of the rule around it: `a` in `a + b`
  };
  struct State {
    Kind kind = Kind::Stop;
    uint16_t token = 0;   ///< of Token
    uint16_t number = 0;  ///< of Rule: the rule; of Choice: the decision
    bool binds = false;   ///< of Choice: inside of a rule with precedences
    int precedence = 0;   ///< of Rule and Precedence
    uint32_t target = 0;  ///< of Rule: where it goes on behind the rule
    std::vector<bool> set = {};
    std::vector<Branch> branches = {};
  };

  static const Network& get() {
    static const Network network;
    return network;
  }
  const State& operator[](size_t state) const { return states_[state]; }
  uint32_t start_of(size_t rule) const { return starts_[rule]; }
  size_t decisions() const { return decisions_; }
  size_t size() const { return states_.size(); }
  size_t rules() const { return starts_.size(); }

 private:
  Network() {
    const antlr4::atn::ATN& atn = P(nullptr).getATN();
    QUERN_CHECK(atn.maxTokenType < kTypes);
    decisions_ = atn.decisionToState.size();
    for (const antlr4::atn::RuleStartState* start : atn.ruleToStartState)
      starts_.push_back(static_cast<uint32_t>(start->stateNumber));
    states_.resize(atn.states.size());
    for (ATNState* state : atn.states)
      if (state) states_[state->stateNumber] = state_of(*state, atn);
    for (uint32_t& start : starts_) start = behind_steps(start);
    for (State& state : states_) {
      QUERN_CHECK(static_cast<size_t>(state.precedence) < kPrecedences);
      state.target = behind_steps(state.target);
      for (Branch& branch : state.branches) branch.target = behind_steps(branch.target);
    }
  }
  /// Where the way from a state has something to do.
  uint32_t behind_steps(uint32_t state) const {
    while (states_[state].kind == Kind::Step) state = states_[state].target;
    return state;
  }
  static State state_of(ATNState& from, const antlr4::atn::ATN& atn) {
    State state;
    if (from.getStateType() == ATNState::RULE_STOP || from.transitions.empty()) return state;
    if (from.transitions.size() > 1) {
      const auto& decision = dynamic_cast<antlr4::atn::DecisionState&>(from);
      const auto* loop = dynamic_cast<antlr4::atn::StarLoopEntryState*>(&from);
      state.kind = Kind::Choice;
      state.number = static_cast<uint16_t>(decision.decision);
      state.binds = atn.ruleToStartState[from.ruleIndex]->isLeftRecursiveRule;
      for (const Transition* way : from.transitions)
        state.branches.push_back(
            {static_cast<uint32_t>(way->target->stateNumber),
             loop && loop->isPrecedenceDecision && way->target->getStateType() != ATNState::LOOP_END});
      return state;
    }
    const Transition& way = *from.transitions[0];
    state.target = static_cast<uint32_t>(way.target->stateNumber);
    switch (way.getSerializationType()) {
      case Transition::EPSILON:
      case Transition::ACTION: state.kind = Kind::Step; return state;
      case Transition::ATOM: {
        const auto type = static_cast<ssize_t>(way.label().getMinElement());
        state.kind = Kind::Token;
        state.token =
            type == static_cast<ssize_t>(antlr4::Token::EOF) ? kEndOfText : static_cast<uint16_t>(type);
        return state;
      }
      case Transition::RULE: {
        const auto& rule = dynamic_cast<const antlr4::atn::RuleTransition&>(way);
        state.kind = Kind::Rule;
        state.number = static_cast<uint16_t>(rule.ruleIndex);
        state.precedence = rule.precedence;
        state.target = static_cast<uint32_t>(rule.followState->stateNumber);
        return state;
      }
      case Transition::PRECEDENCE:
        state.kind = Kind::Precedence;
        state.precedence = dynamic_cast<const antlr4::atn::PrecedencePredicateTransition&>(way).precedence;
        return state;
      case Transition::RANGE:
      case Transition::SET:
      case Transition::NOT_SET:
      case Transition::WILDCARD:
      case Transition::PREDICATE: break;
    }
    QUERN_CHECK(way.getSerializationType() != Transition::PREDICATE);
    state.kind = Kind::Set;
    state.set.resize(kTypes);
    for (size_t type = 1; type <= atn.maxTokenType; ++type)
      state.set[type] = way.matches(type, 1, atn.maxTokenType);
    return state;
  }

  std::vector<State> states_;
  std::vector<uint32_t> starts_;
  size_t decisions_ = 0;
};

/// Whether a token may be the next one on a way, seen from where a rule chooses it.
class Beginnings {
 public:
  explicit Beginnings(const Network& network)
      : network_(network),
        empty_(network.rules(), kUnknown),
        seen_{Marks(network.size()), Marks(network.size())} {}

  /// Whether the way from a state may go on with the token, or leave its rule before any: then what follows the rule
  /// would have to be known. `precedence` is that of the rule.
  bool may_follow(uint32_t state, int precedence, uint16_t token) {
    for (Marks& marks : seen_) marks.assign(network_.size(), false);
    token_ = token;
    return reaches(state, precedence, false);
  }

 private:
  using Marks = std::vector<bool>;
  enum Empty : uint8_t { kUnknown, kNo, kYes };

  /// Inside of a rule on the way, its end is that of the rule alone, and any precedence counts.
  bool reaches(uint32_t at, int precedence, bool inside) {
    if (seen_[inside][at]) return false;
    seen_[inside][at] = true;
    const Network::State& state = network_[at];
    switch (state.kind) {
      case Network::Kind::Token: return state.token == token_;
      case Network::Kind::Set: return state.set[token_];
      case Network::Kind::Stop: return !inside;
      case Network::Kind::Step: return reaches(state.target, precedence, inside);
      case Network::Kind::Precedence:
        return (inside || state.precedence >= precedence) && reaches(state.target, precedence, inside);
      case Network::Kind::Rule:
        return reaches(network_.start_of(state.number), 0, true) ||
               (may_be_empty(state.number) && reaches(state.target, precedence, inside));
      case Network::Kind::Choice:
        return std::ranges::any_of(state.branches, [&](const Network::Branch& branch) {
          return reaches(branch.target, precedence, inside);
        });
    }
    return true;
  }
  bool may_be_empty(size_t rule) {
    // No rule begins with itself, so what it begins with is known first.
    if (empty_[rule] == kUnknown) empty_[rule] = ends(network_.start_of(rule)) ? kYes : kNo;
    return empty_[rule] == kYes;
  }
  /// Whether a way without tokens leads from a state to the end of its rule.
  bool ends(uint32_t at) {
    const Network::State& state = network_[at];
    switch (state.kind) {
      case Network::Kind::Token:
      case Network::Kind::Set: return false;
      case Network::Kind::Stop: return true;
      case Network::Kind::Step:
      case Network::Kind::Precedence: return ends(state.target);
      case Network::Kind::Rule: return may_be_empty(state.number) && ends(state.target);
      case Network::Kind::Choice:
        return std::ranges::any_of(state.branches,
                                   [this](const Network::Branch& branch) { return ends(branch.target); });
    }
    return false;
  }

  const Network& network_;
  std::vector<Empty> empty_;   ///< by rule
  std::array<Marks, 2> seen_;  ///< states, in the rule that chooses and inside of others
  uint16_t token_ = 0;
};

/// What was chosen, by the decision, the precedence around it and the tokens that decided.
class Choices {
 public:
  explicit Choices(const Network& network)
      : beginnings_(network), roots_(network.decisions() * kPrecedences) {}

  size_t choose(const Network::State& state, int precedence, const std::vector<ParserToken>& tokens,
                size_t at) {
    if (!state.binds) precedence = 0;
    int16_t* entry = &roots_[state.number * kPrecedences + static_cast<size_t>(precedence)];
    for (size_t i = at; *entry <= 0 && i - at <= kMostTokens; ++i) {
      if (*entry == kUnknown) return predict(state, precedence, tokens, at);
      entry = &nodes_[static_cast<size_t>(-*entry)][tokens[std::min(i, tokens.size() - 1)].type];
    }
    return *entry > 0 ? static_cast<size_t>(*entry) : predict(state, precedence, tokens, at);
  }

 private:
  // An entry is the number of the way, or minus the number of the node for the next token.
  using Node = std::array<int16_t, kTypes>;
  static constexpr int16_t kUnknown = 0;
  static constexpr size_t kMostNodes = 2048, kMostTokens = 24;

  size_t predict(const Network::State& state, int precedence, const std::vector<ParserToken>& tokens,
                 size_t at) {
    const size_t root = state.number * kPrecedences + static_cast<size_t>(precedence);
    if (const size_t only = only_way(state, precedence, tokens[at].type)) {
      keep(root, tokens, at, at, only);
      return only;
    }
    Lookahead ahead(tokens, at);
    P parser(&ahead);
    ahead.seek(at);
    antlr4::ParserRuleContext context;
    if (precedence > 0) parser.enterRecursionRule(&context, 0, 0, precedence);
    auto* simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
    simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
    size_t way = 0;
    try {
      way = simulator->adaptivePredict(&ahead, state.number, &context);
    } catch (const antlr4::RecognitionException&) {
      throw SyntaxFails{};
    }
    keep(root, tokens, at, ahead.furthest, way);
    return way;
  }
  /// The number of the way that goes on with the token, if it is the only one; else 0.
  size_t only_way(const Network::State& state, int precedence, uint16_t token) {
    size_t only = 0;
    for (size_t i = 0; i < state.branches.size(); ++i) {
      if (!beginnings_.may_follow(state.branches[i].target, precedence, token)) continue;
      if (only) return 0;
      only = i + 1;
    }
    return only;
  }
  void keep(size_t root, const std::vector<ParserToken>& tokens, size_t at, size_t last, size_t way) {
    if (last - at + 1 > kMostTokens) return;
    if (nodes_.size() + kMostTokens > kMostNodes) {
      nodes_.resize(1);
      std::ranges::fill(roots_, kUnknown);
    }
    size_t node = 0;  // whose entry `type` is the place; node 0 stands for the roots
    size_t type = root;
    for (size_t i = at; i <= last; ++i) {
      int16_t& entry = node == 0 ? roots_[type] : nodes_[node][type];
      if (entry == kUnknown) {
        entry = static_cast<int16_t>(-static_cast<int>(nodes_.size()));
        node = nodes_.size();
        nodes_.emplace_back();  // invalidates `entry`
      } else {
        node = static_cast<size_t>(-entry);
      }
      type = tokens[i].type;
    }
    (node == 0 ? roots_[type] : nodes_[node][type]) = static_cast<int16_t>(way);
  }

  Beginnings beginnings_;
  std::vector<int16_t> roots_;
  std::vector<Node> nodes_{Node{}};
};

class Walk {
 public:
  Walk(std::string_view text, const std::vector<ParserToken>& tokens, Arena& arena)
      : text_(text), tokens_(tokens), arena_(arena) {
    parts_.reserve(kOpenParts);
  }

  const ParseNode* rule(size_t index, int precedence) {
    stop_where_interrupted();
    const size_t first = at_, parts = parts_.size();
    size_t at = network_.start_of(index);
    while (true) {
      const Network::State& state = network_[at];
      at = state.target;
      switch (state.kind) {
        case Network::Kind::Step: break;
        case Network::Kind::Token:
          if (tokens_[at_].type != state.token) throw SyntaxFails{};
          take_token();
          break;
        case Network::Kind::Set:
          if (!state.set[tokens_[at_].type]) throw SyntaxFails{};
          take_token();
          break;
        case Network::Kind::Rule: {
          const ParseNode* part = rule(state.number, state.precedence);
          parts_.push_back(part);
          break;
        }
        case Network::Kind::Precedence:
          if (state.precedence < precedence) throw SyntaxFails{};
          break;
        case Network::Kind::Choice: {
          const Network::Branch& branch =
              state.branches[choices_.choose(state, precedence, tokens_, at_) - 1];
          if (branch.wraps) {
            const ParseNode* inner = made(index, first, parts);
            parts_.push_back(inner);
          }
          at = branch.target;
          break;
        }
        case Network::Kind::Stop: return made(index, first, parts);
      }
    }
  }

 private:
  static Choices& choices_of_thread() {
    thread_local Choices choices(Network::get());
    return choices;
  }
  void take_token() {
    const ParserToken& token = tokens_[at_];
    if (token.type == kEndOfText) return;
    ++at_;
    const Range range = token.range;
    parts_.push_back(arena_.make<ParseNode>(ParseNode::kNoRule, token.type, range,
                                            text_.substr(range.begin, range.end - range.begin)));
  }
  /// The rule that began at a token, of the parts from one on.
  const ParseNode* made(size_t index, size_t first, size_t parts) {
    const uint32_t begin = tokens_[first].range.begin;
    const uint32_t end = at_ > first ? tokens_[at_ - 1].range.end : begin;
    const std::span<const ParseNode* const> all(parts_);
    const ParseNode* node =
        arena_.make<ParseNode>(static_cast<uint16_t>(index), kEndOfText, Range{begin, end},
                               std::string_view(), arena_.copy(all.subspan(parts)));
    parts_.resize(parts);
    return node;
  }

  const Network& network_ = Network::get();
  Choices& choices_ = choices_of_thread();
  std::string_view text_;
  const std::vector<ParserToken>& tokens_;
  Arena& arena_;
  size_t at_ = 0;
  std::vector<const ParseNode*> parts_;  ///< of the rules that are open
};

}  // namespace

const ParseNode* parse_tree(std::string_view text, const std::vector<ParserToken>& tokens, Arena& arena) {
  try {
    return Walk(text, tokens, arena).rule(P::RuleUnit, 0);
  } catch (const SyntaxFails&) {
    return nullptr;
  }
}

}  // namespace quern
