// Line breaks: groups, indentation and separators, from the tree. Kinds of nodes not mentioned here are laid
// out by their brackets and commas.

#include <algorithm>
#include <set>

#include "frontend/format/format_impl.h"

namespace quern::format_detail {

namespace {

/// How tightly an infix operator binds; one chain of equal ones breaks as a whole.
int precedence(std::string_view symbol) {
  struct Level {
    std::string_view symbols;
    int level;
  };
  constexpr Level kLevels[] = {{" * / % ", 6}, {" + - ", 5}, {" < <= > >= ", 4},
                               {" == != ", 3}, {" and ", 2}, {" or ", 1}};
  for (const Level& l : kLevels)
    if (l.symbols.find(" " + std::string(symbol) + " ") != std::string_view::npos) return l.level;
  return 0;
}

/// Whether it begins on the line of its head and ends with its own bracket.
bool is_bracketed(SyntaxPtr s) {
  switch (s->kind) {
    case SyntaxKind::Block:
    case SyntaxKind::Fn:
    case SyntaxKind::List:
    case SyntaxKind::Match:
    case SyntaxKind::Tuple: return true;
    default: return false;
  }
}

/// Whether it is a name with brackets behind it.
bool is_call(SyntaxPtr s) {
  if (!s->is(SyntaxKind::Call) && !s->is(SyntaxKind::Index)) return false;
  SyntaxPtr of = s->child(0);
  return of->is(SyntaxKind::Name) || of->is(SyntaxKind::GlobalName) || of->is(SyntaxKind::Local) ||
         of->is(SyntaxKind::Field);
}

bool is_number(SyntaxPtr s) {
  return s->is(SyntaxKind::Int) || s->is(SyntaxKind::Float) || s->is(SyntaxKind::Bool);
}

/// Whether a trailing comma is redundant; it is written only if a list in braces is broken.
bool comma_may_go(SyntaxPtr list) {
  switch (list->kind) {
    case SyntaxKind::Tuple:
    case SyntaxKind::TupleType:
    case SyntaxKind::TuplePattern: return list->children.size() > 1;
    case SyntaxKind::Binders:
    case SyntaxKind::Call:
    case SyntaxKind::Constructor:
    case SyntaxKind::ConstructorPattern:
    case SyntaxKind::FunctionType:
    case SyntaxKind::List:
    case SyntaxKind::Match:
    case SyntaxKind::Params:
    case SyntaxKind::TypeDecl:
    case SyntaxKind::TypeParams: return true;
    case SyntaxKind::Index: return list->child(0)->text != "meta";  // `meta[kind][0]` is a constant
    default: return false;
  }
}

class Structure {
 public:
  Structure(std::vector<Token>& tokens, const ParseOutcome& parsed)
      : tokens_(tokens), parsed_(parsed), own_(parsed.tree.node_count + 1) {
    for (uint32_t i = 0; i < tokens.size(); ++i) own_[tokens[i].owner->id].push_back(i);
  }

  void run() {
    std::vector<SyntaxPtr> stack{parsed_.tree.root};
    while (!stack.empty()) {
      SyntaxPtr s = stack.back();
      stack.pop_back();
      if (first(s) != kNone) node(s);
      for (auto child = s->children.rbegin(); child != s->children.rend(); ++child)
        if (*child) stack.push_back(*child);
    }
    for (uint32_t i = 0; i < tokens_.size(); ++i)
      if (tokens_[i].partner != kNone && tokens_[i].partner > i) brackets(i, tokens_[i].partner);
    // The first to begin ends last.
    for (auto end = ends_of_nodes_.rbegin(); end != ends_of_nodes_.rend(); ++end) {
      auto& after = tokens_[end->token].after;
      after.insert(after.end(), end->marks.begin(), end->marks.end());
    }
  }

 private:
  // --- places
  uint32_t first(SyntaxPtr s) const {
    Range span = parsed_.spans[s->id];
    auto it = std::ranges::lower_bound(tokens_, span.begin, {}, [](const Token& t) { return t.range.begin; });
    bool any = it != tokens_.end() && it->range.begin < span.end;
    return any ? static_cast<uint32_t>(it - tokens_.begin()) : kNone;
  }
  uint32_t last(SyntaxPtr s) const {
    uint32_t span_end = parsed_.spans[s->id].end;
    auto it = std::ranges::upper_bound(tokens_, span_end, {}, [](const Token& t) { return t.range.end; });
    return static_cast<uint32_t>(it - tokens_.begin()) - 1;
  }
  /// The node's own token with this text, not one of its children's; from the last on.
  uint32_t own(SyntaxPtr s, std::string_view token) const {
    const auto& list = own_[s->id];
    for (auto i = list.rbegin(); i != list.rend(); ++i)
      if (tokens_[*i].is(token)) return *i;
    return kNone;
  }

  // --- marks
  void begin(uint32_t token, std::initializer_list<Mark> marks) {
    tokens_[token].before.insert(tokens_[token].before.end(), marks);
  }
  void begin_before_separator(uint32_t token, std::initializer_list<Mark> marks) {
    auto& list = tokens_[token].before_separator;
    list.insert(list.end(), marks);
  }
  void end(uint32_t token, std::initializer_list<Mark> marks) { ends_of_nodes_.push_back({token, marks}); }
  void separate(uint32_t token, Separator separator) { tokens_[token].separator = separator; }

  // --- nodes
  void node(SyntaxPtr s) {
    switch (s->kind) {
      case SyntaxKind::Def:
      case SyntaxKind::Op:
      case SyntaxKind::ExternOp: return declaration(s);
      case SyntaxKind::Fn:
      case SyntaxKind::Static: return result_type(s);
      case SyntaxKind::Where:
      case SyntaxKind::WarnClause:
        if (uint32_t colon = own(s, ":"); colon != kNone) breakable(s, colon);
        if (uint32_t fix = own(s, "fix"); fix != kNone) separate(fix, Separator::Fill);
        return;
      case SyntaxKind::Generator:
      case SyntaxKind::FamilyType: return generator(s);
      case SyntaxKind::Block: return semicolons(s, Separator::Hard);
      case SyntaxKind::Schedule: return semicolons(s, Separator::Line);
      case SyntaxKind::If: return if_chain(s);
      case SyntaxKind::CasesType: return cases(s);
      case SyntaxKind::Binary: return infix(s);
      case SyntaxKind::ReadElse: return breakable(s, own(s, "else"), Mark::Open, Separator::Fill);
      case SyntaxKind::Comprehension: return after_head(s, own(s, "=>"), s->child(1));
      case SyntaxKind::Arm: return after_head(s, own(s, "=>"), s->child(1));
      case SyntaxKind::Reduce: return after_head(s, own(s, "]"), s->child(1));
      default: return;
    }
  }

  /// The line may break before a token inside a node; the rest is then indented.
  void breakable(SyntaxPtr s, uint32_t token, Mark open = Mark::Open, Separator separator = Separator::Line) {
    begin(first(s), {open});
    begin_before_separator(token, {Mark::Indent});
    separate(token, separator);
    end(last(s), {Mark::Dedent, Mark::Close});
  }
  /// The line may break after a head; a value with its own brackets breaks inside them, and so does a call
  /// that fits no line.
  void after_head(SyntaxPtr s, uint32_t head, SyntaxPtr value) {
    if (head == kNone || head >= last(s) || !value || is_bracketed(value) || value->is(SyntaxKind::Paren))
      return;
    breakable(s, head + 1, is_call(value) ? Mark::OpenHanging : Mark::Open);
  }
  /// The brackets around `value for k < n if condition` are on one line, or each part begins one.
  void generator(SyntaxPtr s) {
    for (std::string_view word : {"for", "if"})
      if (uint32_t token = own(s, word); token != kNone) separate(token, Separator::Line);
  }

  void infix(SyntaxPtr s) {
    int level = precedence(s->text);
    if (level == 0 || in_chain_.contains(s)) return;
    uint32_t leftmost = kNone;
    for (SyntaxPtr link = s; link->is(SyntaxKind::Binary) && precedence(link->text) == level;
         link = link->child(0)) {
      in_chain_.insert(link);
      leftmost = own(link, link->text);
      separate(leftmost, Separator::Line);
    }
    begin(first(s), {Mark::Open});
    begin_before_separator(leftmost, {Mark::Indent});
    end(last(s), {Mark::Dedent, Mark::Close});
  }

  /// A result by cases is on one line, or each case begins one.
  void cases(SyntaxPtr s) {
    begin(first(s), {Mark::Open, Mark::Indent});
    for (uint32_t i : own_[s->id]) {
      const bool begins_case = tokens_[i].is("when") || tokens_[i].is("else");
      if (begins_case && i != first(s)) separate(i, Separator::Line);
    }
    end(last(s), {Mark::Dedent, Mark::Close});
  }

  /// A chain is on one line, or each branch is, or every block is broken.
  void if_chain(SyntaxPtr s) {
    if (s->child(1)->is(SyntaxKind::Block)) ungrouped_.insert(s->child(1));
    SyntaxPtr otherwise = s->child(2);
    if (otherwise->is(SyntaxKind::Block) || otherwise->is(SyntaxKind::If)) ungrouped_.insert(otherwise);
    if (uint32_t word = own(s, "else"); word != kNone) separate(word, Separator::Row);
    if (ungrouped_.contains(s)) return;
    begin(first(s), {Mark::OpenRows});
    end(last(s), {Mark::Close});
  }

  /// Sets the separators after semicolons; the last one, and those without a preceding statement, are
  /// redundant.
  void semicolons(SyntaxPtr s, Separator after) {
    for (uint32_t i : own_[s->id]) {
      if (!tokens_[i].is(";")) continue;
      uint32_t next = i + 1;
      while (tokens_[next].is(";")) ++next;
      tokens_[i].dropped = tokens_[next].is("}") || tokens_[i - 1].is(";");
      if (!tokens_[next].is("}")) separate(next, after);
    }
  }

  void result_type(SyntaxPtr s) {
    uint32_t arrow = own(s, "->");
    if (arrow == kNone) return;
    SyntaxPtr type = s->is(SyntaxKind::Static) ? nullptr : s->child(2);
    const uint32_t last_of_type = type && first(type) != kNone ? last(type) : arrow;
    if (s->is(SyntaxKind::Fn) || s->is(SyntaxKind::Static)) {
      begin_before_separator(arrow, {Mark::OpenTight});
      return end(last_of_type, {Mark::CloseTight});
    }
    begin_before_separator(arrow, {Mark::OpenHanging, Mark::DoubleIndent});
    separate(arrow, Separator::Line);
    begin(arrow, {Mark::OpenTight});
    end(last_of_type, {Mark::CloseTight, Mark::Dedent, Mark::Close});
  }

  // A declaration is on one line, or its clauses and its body each begin one. Its result goes below its
  // parameters if these fit a line but not both do. What is below the head is indented more than the body.
  void declaration(SyntaxPtr s) {
    begin(first(s), {Mark::Open});
    SyntaxPtr clauses = s->child(3), bodies = s->child(4);
    bool alternatives =
        bodies->children.size() > 1 || (!bodies->children.empty() && bodies->child(0)->child(0));
    end(alternatives ? first(bodies) - 1 : last(s), {Mark::Close});
    result_type(s);
    if (!clauses->children.empty()) {
      bool several = clauses->children.size() > 1 || alternatives;
      for (SyntaxPtr clause : clauses->children)
        separate(first(clause), several ? Separator::Hard : Separator::Line);
      begin_before_separator(first(clauses->child(0)), {Mark::DoubleIndent});
      end(last(clauses->children.back()), {Mark::Dedent});
    }
    if (!alternatives && !bodies->children.empty()) {
      SyntaxPtr body = bodies->child(0)->child(1);
      ungrouped_.insert(body);
      if (has_braces(body)) never_flat_.insert(body);
    }
    if (!alternatives) return;
    begin_before_separator(first(bodies), {Mark::Indent});
    for (SyntaxPtr when : bodies->children) separate(first(when), Separator::Hard);
    end(last(bodies), {Mark::Dedent});
  }

  // --- brackets
  void brackets(uint32_t open, uint32_t close) {
    SyntaxPtr owner = tokens_[open].owner;
    if (Token& comma = tokens_[close - 1]; comma.is(",")) comma.dropped = comma_may_go(comma.owner);
    bool empty = close == open + 1 || (close == open + 2 && tokens_[open + 1].dropped);
    if (empty && tokens_[close].comments.empty() && tokens_[close - 1].comments.empty())
      return separate(close, Separator::Glued);
    bool plain = tokens_[open + 1].comments.empty() && tokens_[close].comments.empty();
    if (plain && (never_broken(owner) || holds_one_bracketed(owner))) return;
    bool braces = tokens_[open].is("{");
    bool statements = owner->is(SyntaxKind::Block);
    Separator inner = braces ? Separator::Line : Separator::SoftLine;
    if (statements && (never_flat_.contains(owner) || never_flat(owner))) inner = Separator::Hard;
    bool grouped = !(statements && ungrouped_.contains(owner));
    if (grouped) begin(open, {plain && holds_one_call(owner) ? Mark::OpenHanging : Mark::Open});
    tokens_[open].after.push_back(Mark::Indent);
    separate(open + 1, inner);
    separate(close, inner);
    tokens_[close].before_separator.push_back(Mark::Dedent);
    tokens_[close].comma_when_broken = owner->is(SyntaxKind::Match) || owner->is(SyntaxKind::TypeDecl);
    if (grouped) tokens_[close].after.push_back(Mark::Close);
    bool numbers = owner->is(SyntaxKind::List) && std::ranges::all_of(owner->children, is_number);
    for (uint32_t i = open + 1; i < close; ++i) {
      if (tokens_[i].partner != kNone && tokens_[i].partner > i) i = tokens_[i].partner;
      if (tokens_[i].owner->is(SyntaxKind::ScheduleMakes)) continue;
      if (tokens_[i].is(",") && !tokens_[i].dropped && i + 1 < close)
        separate(i + 1, numbers ? Separator::Fill : Separator::Line);
    }
  }

  /// Whether there is a function or a `match` in a declaration's body: two pairs of braces are hard to read on
  /// one line.
  static bool has_braces(SyntaxPtr body) {
    std::vector<SyntaxPtr> stack{body};
    while (!stack.empty()) {
      SyntaxPtr s = stack.back();
      stack.pop_back();
      if (s->is(SyntaxKind::Fn) || s->is(SyntaxKind::Match)) return true;
      for (SyntaxPtr child : s->children)
        if (child) stack.push_back(child);
    }
    return false;
  }
  /// A block of several statements, or of a `match`.
  static bool never_flat(SyntaxPtr block) {
    return block->children.size() > 1 || (!block->children.empty() && block->child(0)->is(SyntaxKind::Match));
  }
  /// A tensor type breaks inside its shape.
  static bool never_broken(SyntaxPtr owner) {
    return owner->is(SyntaxKind::Meta) || owner->is(SyntaxKind::Kind) || owner->is(SyntaxKind::TensorType);
  }
  /// `f(fn (…) {…})`, `%a[..f(…)]`: breaks inside its only argument.
  static bool holds_one_bracketed(SyntaxPtr owner) {
    if (owner->children.size() != 2) return false;
    SyntaxPtr item = owner->child(1);
    if (owner->is(SyntaxKind::Index) && item->is(SyntaxKind::Spread))
      return is_bracketed(item->child(0)) || is_call(item->child(0));
    return owner->is(SyntaxKind::Call) && is_bracketed(item);
  }
  /// `f(g(…))`: breaks inside `g` where this fits no line.
  static bool holds_one_call(SyntaxPtr owner) {
    return owner->is(SyntaxKind::Call) && owner->children.size() == 2 && is_call(owner->child(1));
  }

  struct End {
    uint32_t token;
    std::vector<Mark> marks;
  };

  std::vector<Token>& tokens_;
  const ParseOutcome& parsed_;
  std::vector<std::vector<uint32_t>> own_;  ///< the tokens that each node owns, by its id
  std::vector<End> ends_of_nodes_;          ///< outermost first
  std::set<SyntaxPtr> in_chain_;
  std::set<SyntaxPtr> never_flat_;
  std::set<SyntaxPtr> ungrouped_;  ///< blocks that break together with their parent
};

}  // namespace

void add_structure(std::vector<Token>& tokens, const ParseOutcome& parsed) {
  if (!tokens.empty()) Structure(tokens, parsed).run();
}

}  // namespace quern::format_detail
