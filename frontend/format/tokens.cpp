// The tokens of a declaration: the node that owns each, and whether a blank precedes it.

#include <algorithm>

#include "frontend/format/format_impl.h"

namespace quern::format_detail {

namespace {

/// Nodes sorted by start, outermost first.
struct Node {
  SyntaxPtr syntax;
  Range span;
};

std::vector<Node> nodes_in_order(const ParseOutcome& parsed) {
  std::vector<Node> nodes;
  std::vector<SyntaxPtr> stack{parsed.tree.root};
  while (!stack.empty()) {
    SyntaxPtr s = stack.back();
    stack.pop_back();
    Range span = parsed.spans[s->id];
    // Without a body, that of the whole declaration, whose tokens they do not own.
    if (s->is(SyntaxKind::Bodies)) span.end = span.begin;
    if (span.begin < span.end) nodes.push_back({s, span});
    for (SyntaxPtr child : s->children)
      if (child) stack.push_back(child);
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
    if (a.span.begin != b.span.begin) return a.span.begin < b.span.begin;
    if (a.span.end != b.span.end) return a.span.end > b.span.end;
    return a.syntax->id < b.syntax->id;
  });
  return nodes;
}

/// Spans are nested or disjoint, so a stack holds the enclosing ones.
void set_owners(std::vector<Token>& tokens, const ParseOutcome& parsed) {
  std::vector<Node> nodes = nodes_in_order(parsed);
  std::vector<Node> around;
  size_t next = 0;
  for (Token& token : tokens) {
    Range range = token.range;
    for (; next < nodes.size() && nodes[next].span.begin <= range.begin; ++next)
      around.push_back(nodes[next]);
    while (!around.empty() && around.back().span.end < range.end) around.pop_back();
    token.owner = around.empty() ? parsed.tree.root : around.back().syntax;
    token.first_of_owner = parsed.spans[token.owner->id].begin == range.begin;
  }
}

/// `<…>` around types, as opposed to comparisons.
bool has_angle_brackets(SyntaxKind kind) {
  return kind == SyntaxKind::TypeParams || kind == SyntaxKind::Name || kind == SyntaxKind::GlobalName ||
         kind == SyntaxKind::NamedType || kind == SyntaxKind::FunctionType;
}

bool is_reduction_word(std::string_view word) {
  constexpr std::string_view kWords[] = {"sum", "prod",   "max",    "min",  "any",
                                         "all", "argmax", "argmin", "scan", "scatter"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

class Spacing {
 public:
  Spacing(const Token& left, const Token& right, bool slash_names)
      : left_(left), right_(right), owner_(right.owner->kind), slash_names_(slash_names) {}

  bool glued() const {
    if (would_be_one_token()) return false;
    if (right_.closes()) return !right_.is("}") || left_.opens();
    if (left_.opens()) return !left_.is("{");
    if (right_.is(",")) return true;
    if (right_.is(";")) return !left_.is(";");  // a group without names: `pack(w, 32; ; j; k)`
    if (left_.is("..") || left_.is("~") || left_.is("!") || left_.is(".") || right_.is(".")) return true;
    if (right_.kind == LexemeKind::Projection) return true;
    if (left_.is("-") && left_.owner->kind != SyntaxKind::Binary) return true;
    if (right_.is(":")) return owner_ != SyntaxKind::Where && owner_ != SyntaxKind::WarnClause;
    if (left_.is(":")) return left_.owner->kind == SyntaxKind::Slice;
    if (right_.is("=")) return owner_ == SyntaxKind::NamedArgument || owner_ == SyntaxKind::FieldPattern;
    if (left_.is("="))
      return left_.owner->kind == SyntaxKind::NamedArgument || left_.owner->kind == SyntaxKind::FieldPattern;
    if (right_.is("?") && owner_ != SyntaxKind::AnyDim) return true;
    if (left_.owner == right_.owner && (owner_ == SyntaxKind::Kind || owner_ == SyntaxKind::Meta))
      return true;
    if (left_.is("<") && has_angle_brackets(left_.owner->kind)) return true;
    if ((right_.is("<") || right_.is(">")) && has_angle_brackets(owner_)) return !after_fn();
    return right_.opens() && !right_.is("{") && opens_after_callee();
  }

 private:
  /// `1` and `.0`, `max` and `[`, `nn` and `.field`; `%x` and `.field` in TVM's texts.
  bool would_be_one_token() const {
    bool point = right_.is(".") || right_.kind == LexemeKind::Projection;
    if (point && left_.kind == LexemeKind::Number) return true;
    bool dotted =
        left_.kind == LexemeKind::Name || left_.kind == LexemeKind::Word || left_.kind == LexemeKind::Global;
    if (dotted && right_.is(".")) return true;
    bool named = left_.kind == LexemeKind::Local || left_.kind == LexemeKind::Projection;
    if (slash_names_ && named && (right_.is(".") || owner_ == SyntaxKind::Slice)) return true;
    return right_.is("[") && is_reduction_word(left_.text);
  }
  bool after_fn() const { return left_.is("fn") && left_.kind == LexemeKind::Word; }
  /// Brackets of arguments, parameters and positions, as opposed to grouping brackets.
  bool opens_after_callee() const {
    bool operand = left_.kind == LexemeKind::Symbol && !left_.closes() && !left_.is(">");
    if (operand || right_.text.size() > 1) return false;  // after an operator; `sum[`
    switch (owner_) {
      case SyntaxKind::Call:
      case SyntaxKind::Index:
      case SyntaxKind::Def:
      case SyntaxKind::Op:
      case SyntaxKind::ExternOp:
      case SyntaxKind::Static:
      case SyntaxKind::Constructor:
      case SyntaxKind::ConstructorPattern:
      case SyntaxKind::TensorType:
      case SyntaxKind::NamedType: return true;
      case SyntaxKind::TypeParams: return !after_fn();
      default: return !right_.first_of_owner && left_.kind != LexemeKind::Word;
    }
  }

  const Token& left_;
  const Token& right_;
  SyntaxKind owner_;  ///< of the right token
  bool slash_names_;
};

void pair_brackets(std::vector<Token>& tokens) {
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    bool angle = has_angle_brackets(tokens[i].owner->kind);
    if (tokens[i].opens() || (angle && tokens[i].is("<"))) open.push_back(i);
    if ((!tokens[i].closes() && !(angle && tokens[i].is(">"))) || open.empty()) continue;
    tokens[i].partner = open.back();
    tokens[open.back()].partner = i;
    open.pop_back();
  }
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text, const ParseOutcome& parsed, bool slash_names) {
  std::vector<Lexeme> lexemes = lex(text, slash_names);
  std::vector<Token> tokens(lexemes.size());
  uint32_t end = 0;
  for (size_t i = 0; i < lexemes.size(); ++i) {
    Range range = lexemes[i].range;
    std::string_view gap = text.substr(end, range.begin - end);
    tokens[i].text = text.substr(range.begin, range.end - range.begin);
    tokens[i].range = range;
    tokens[i].kind = lexemes[i].kind;
    tokens[i].comments = comments_in(gap, end);
    tokens[i].lines_before =
        tokens[i].comments.empty() ? count_line_ends(gap) : tokens[i].comments.back().lines_after;
    end = range.end;
  }
  set_owners(tokens, parsed);
  pair_brackets(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    bool glued = i == 0 || Spacing(tokens[i - 1], tokens[i], slash_names).glued();
    tokens[i].separator = glued ? Separator::Glued : Separator::Space;
  }
  return tokens;
}

}  // namespace quern::format_detail
