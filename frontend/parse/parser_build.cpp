#include "frontend/parse/parser_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "frontend/syntax/called_words.h"

namespace quern {

namespace {

using P = quern_grammar::QuernParser;

// One function per rule of the grammar; which of its alternatives the text has shows in the parts. A rule that recovery
// left without parts becomes an Error node. A second walk assigns ids in preorder, once the tree's shape is final.
class Builder : private NodeMaker {
 public:
  using NodeMaker::made;
  Builder(Arena& arena, std::string_view source, const InnerParser& parse_inner,
          std::vector<SyntaxProblem>& problems)
      : NodeMaker(arena), source_(source), parse_inner_(parse_inner), problems_(problems) {}

  SyntaxPtr item(Part c) {
    if (!c) return error(nullptr);
    if (auto* d = c->defDecl()) return def(d);
    if (auto* d = c->opDecl()) return op(d);
    if (auto* d = c->typeDecl()) return type_decl(d);
    if (auto* d = c->externTypeDecl())
      return make(d, SyntaxKind::ExternType, text(d->name()), {type_params(d->typeParams())});
    if (auto* d = c->importDecl()) return import(d);
    if (auto* d = c->testDecl())
      return make(d, SyntaxKind::Test, string(d->token(P::STRING)), {block(d->block())});
    if (auto* d = c->infixDecl())
      return make(d, SyntaxKind::Infix, string(d->token(P::STRING)), {name(d->name())});
    if (auto* d = c->staticDecl())
      return make(d, SyntaxKind::Static, strip(d->token(P::GLOBAL)),
                  {params(d->params(), d), block(d->block())});
    if (auto* s = c->statement()) return statement(s);
    return error(c);
  }

 private:
  // --- declarations
  SyntaxPtr def(Part d) {
    std::string called =
        d->token(P::GLOBAL) ? "@" + std::string(strip(d->token(P::GLOBAL))) : text(d->name());
    return make(d, SyntaxKind::Def, called,
                {type_params(d->typeParams()), params(d->params(), d), optional_type(d),
                 clauses(d->rules(P::RuleClause), d), bodies(d->bodies(), d)});
  }
  SyntaxPtr op(Part d) {
    bool is_extern = d->has("extern");
    return make(d, is_extern ? SyntaxKind::ExternOp : SyntaxKind::Op, text(d->name()),
                {type_params(d->typeParams()), params(d->params(), d), result_type(d->resultType()),
                 clauses(d->rules(P::RuleClause), d), bodies(d->bodies(), d)});
  }
  SyntaxPtr result_type(Part c) {
    bool complete = c && c->rules(P::RuleType).size() == c->rules(P::RuleExpr).size() + 1;
    if (!complete || c->rules(P::RuleExpr).empty()) return type(complete ? c->type(0) : nullptr);
    Nodes cases;
    for (size_t i = 0; i < c->rules(P::RuleType).size(); ++i) {
      if (i < c->rules(P::RuleExpr).size()) cases.push_back(expr(c->expr(i)));
      cases.push_back(type(c->type(i)));
    }
    return make(c, SyntaxKind::CasesType, "", cases);
  }
  SyntaxPtr type_decl(Part d) {
    if (d->type())
      return make(d, SyntaxKind::TypeAlias, text(d->name()), {type_params(d->typeParams()), type(d->type())});
    Nodes children{type_params(d->typeParams())};
    for (Part c : d->rules(P::RuleConstructor)) {
      Nodes fields;
      for (Part f : c->rules(P::RuleConstructorField))
        fields.push_back(make(f, SyntaxKind::ConstructorField, text(f->name()), {type(f->type())}));
      children.push_back(make(c, SyntaxKind::Constructor, text(c->constructorName()), fields));
    }
    return make(d, SyntaxKind::TypeDecl, text(d->name()), children);
  }
  SyntaxPtr import(Part d) {
    if (!d->name()) return make(d, SyntaxKind::Import, string(d->token(P::STRING)), {});
    return make(d, SyntaxKind::ImportAs, string(d->token(P::STRING)), {name(d->name())});
  }
  SyntaxPtr type_params(Part c) {
    if (!c) return nullptr;
    Nodes names;
    for (Part n : c->rules(P::RuleName)) names.push_back(name(n));
    return make(c, SyntaxKind::TypeParams, "", names);
  }
  SyntaxPtr params(Part c, Part owner) {
    Nodes list;
    if (c)
      for (Part p : c->rules(P::RuleParam)) list.push_back(param(p));
    return c ? make(c, SyntaxKind::Params, "", list) : make_at(start_of(owner), SyntaxKind::Params, "", list);
  }
  SyntaxPtr param(Part c) {
    if (Part local = c->token(P::LOCAL))
      return make(c, SyntaxKind::TensorParam, strip(local), tensor_param(c));
    if (c->name()) {
      if (c->kind() && !is_attribute_kind(text(c->kind()))) return parameter_without_sigil(c);
      return make(c, SyntaxKind::AttributeParam, text(c->name()),
                  {c->kind() ? make(c->kind(), SyntaxKind::Kind, text(c->kind()), {}) : nullptr,
                   c->expr() ? expr(c->expr()) : nullptr});
    }
    return error(c);
  }
  Nodes tensor_param(Part t) {
    Nodes children{optional_type(t)};
    if (Part noted = t->noted()) {
      const auto names = noted->rules(P::RuleName), values = noted->rules(P::RuleExpr);
      for (size_t i = 0; i < std::min(names.size(), values.size()); ++i)
        children.push_back(make_at({names[i]->range.begin, values[i]->range.end}, SyntaxKind::NamedArgument,
                                   text(names[i]), {expr(values[i])}));
    }
    return children;
  }
  static constexpr std::array<std::string_view, 7> kAttributeKinds{"int",   "float", "bool", "string",
                                                                   "dtype", "dim",   "shape"};
  static bool is_attribute_kind(std::string_view kind) {
    if (kind.ends_with("?")) kind.remove_suffix(1);
    while (kind.ends_with("[]")) kind.remove_suffix(2);
    return kind == "any" || std::ranges::find(kAttributeKinds, kind) != kAttributeKinds.end();
  }
  // `x: int32` for `%x: int32`: no attribute kind is named like a type.
  SyntaxPtr parameter_without_sigil(Part a) {
    std::string called = text(a->name());
    Range at = a->name()->range;
    std::string kind = text(a->kind());
    bool type = parse_dtype(kind) || std::isupper(static_cast<unsigned char>(kind[0]));
    std::vector<Fix> fixes;
    if (type)
      fixes.push_back({fmt::format("write `%{}`", called), {{Place{{}, Range{at.begin, at.begin}}, "%"}}});
    std::string message =
        type ? fmt::format("a parameter begins with `%`: `%{}`", called)
             : fmt::format("there is no kind of attribute `{}`: the kinds are {}; a tensor begins with `%`",
                           kind, fmt::join(kAttributeKinds, ", "));
    if (std::ranges::none_of(problems_, [&](const SyntaxProblem& p) { return p.range.begin == at.begin; }))
      problems_.push_back({DiagnosticKind::MissingSigil, at, message, {}, fixes});
    return make(a, SyntaxKind::TensorParam, called,
                {make(a->kind(), SyntaxKind::NamedType, text(a->kind()), {})});
  }
  SyntaxPtr string_node(Part token) {
    if (!token) return nullptr;
    return make_at(token->range, SyntaxKind::String, string(token), {});
  }
  SyntaxPtr clause(Part c) {
    if (c->schedule()) return build_schedule(*this, c->schedule());
    Part word = c->child(0);
    if (!word) return nullptr;
    if (word->is_token("where"))
      return make(c, SyntaxKind::Where, "", {expr(c->expr()), string_node(c->token(P::STRING))});
    if (word->is_token("warn"))
      return make(c, SyntaxKind::WarnClause, "",
                  {expr(c->expr()), string_node(c->token(P::STRING)), string_node(c->token(P::STRING, 1))});
    if (word->is_token("static"))
      return make(c, SyntaxKind::StaticClause, text(c->name()), {expr(c->expr())});
    if (word->is_token("gradient"))
      return make(c, SyntaxKind::Gradient, "", {params(c->params(), c), block(c->block())});
    if (word->is_token("shape"))
      return make(c, SyntaxKind::ShapeClause, "", {params(c->params(), c), block(c->block())});
    Part needs = c->token(P::STRING, 1);
    return make(c, SyntaxKind::LoweringClause, string(c->token(P::STRING)),
                {make_at(needs ? needs->range : Range{}, SyntaxKind::String, string(needs), {})});
  }
  SyntaxPtr clauses(const std::vector<Part>& list, Part owner) {
    Nodes out;
    for (Part c : list)
      if (SyntaxPtr node = clause(c)) out.push_back(node);
    return list.empty() ? make_at(start_of(owner), SyntaxKind::Clauses, "", out)
                        : make(list.front(), SyntaxKind::Clauses, "", out);
  }
  SyntaxPtr bodies(Part c, Part owner) {
    Nodes list;
    if (c && c->block()) list.push_back(make(c, SyntaxKind::When, "", {nullptr, block(c->block())}));
    if (c)
      for (Part w : c->rules(P::RuleWhenBody))
        list.push_back(make(w, SyntaxKind::When, "", {expr(w->expr()), block(w->block())}));
    if (c && c->elseBody())
      list.push_back(make(c->elseBody(), SyntaxKind::When, "", {nullptr, block(c->elseBody()->block())}));
    return make(c ? c : owner, SyntaxKind::Bodies, "", list);
  }

  // --- statements and blocks
  SyntaxPtr statement(Part c) {
    if (c && c->scheduled()) return scheduled(c->scheduled());
    return c ? bound(c->bound()) : error(c);
  }
  SyntaxPtr bound(Part c) {
    Part word = c ? c->child(0) : nullptr;
    if (!word) return error(c);
    if (word->is_token(P::GRAPH))
      return make(c, SyntaxKind::GraphLet, strip(word), {scheduled(c->scheduled())});
    if (word->is_token("free_var"))
      return make(c, SyntaxKind::FreeVar, strip(c->token(P::LOCAL)), {optional_type(c)});
    if (!c->parts())
      return make(c, SyntaxKind::Let, c->token(P::LOCAL) ? strip(c->token(P::LOCAL)) : "_",
                  {optional_type(c), scheduled(c->scheduled())});
    SyntaxPtr pattern = parts(c->parts()), written = optional_type(c);
    if (pattern->is(SyntaxKind::WildcardPattern))
      return make(c, SyntaxKind::Let, "_", {written, scheduled(c->scheduled())});
    if (pattern->is(SyntaxKind::VariablePattern))
      return make(c, SyntaxKind::Let, pattern->text,
                  {written ? written : pattern->child(0), scheduled(c->scheduled())});
    return make(c, SyntaxKind::LetPattern, "", {pattern, written, scheduled(c->scheduled())});
  }
  SyntaxPtr block(Part c) {
    if (!c) return error(nullptr);
    Nodes list;
    for (Part s : c->rules(P::RuleStatement)) list.push_back(statement(s));
    return make(c, SyntaxKind::Block, "", list);
  }
  SyntaxPtr sequence(Part c) {
    Nodes list{bound(c->bound())};
    for (Part s : c->rules(P::RuleStatement)) list.push_back(statement(s));
    return make(c, SyntaxKind::Block, "", list);
  }

  SyntaxPtr scheduled(Part c) {
    if (!c) return error(nullptr);
    SyntaxPtr value = expr(c->expr());
    if (!c->schedule()) return value;
    return make(c, SyntaxKind::Scheduled, "", {value, build_schedule(*this, c->schedule())});
  }

  // --- expressions
  SyntaxPtr expr(Part c) {
    Part first = c ? c->child(0) : nullptr;
    if (!first) return error(c);
    if (first->is_rule(P::RulePrimary)) return primary(first);
    return first->is_rule(P::RuleExpr) ? continued(c) : prefixed(c, *first);
  }
  /// An expression and what follows it: a call, a part of it, an operator with its other operand.
  SyntaxPtr continued(Part c) {
    Part symbol = c->child(1);
    if (!symbol) return error(c);
    if (symbol->is_token("(")) return call(c);
    if (symbol->is_token("[")) {
      Nodes children{expr(c->expr())};
      for (Part i : c->rules(P::RuleIndexItem)) children.push_back(index_item(i));
      return make(c, SyntaxKind::Index, "", children);
    }
    if (symbol->is_token(P::PROJECTION))
      return make(c, SyntaxKind::Project, strip(symbol), {expr(c->expr())});
    if (symbol->is_token(".")) return field(c);
    if (symbol->is_token("else"))
      return make(c, SyntaxKind::ReadElse, "", {expr(c->expr()), expr(c->expr(1))});
    return make(c, SyntaxKind::Binary, text(symbol), {expr(c->expr()), expr(c->expr(1))});
  }
  SyntaxPtr prefixed(Part c, const ParseNode& word) {
    if (word.is_token("-") || word.is_token("!")) return unary(c);
    if (word.is_token("not")) return make(c, SyntaxKind::Unary, "not", {expr(c->expr())});
    if (word.is_token(P::REDUCE))
      return make(c, SyntaxKind::Reduce, word.source.substr(0, word.source.size() - 1),
                  {binders(c->binders()), expr(c->expr())});
    if (word.is_token("["))
      return make(c, SyntaxKind::Comprehension, "", {binders(c->binders()), expr(c->expr())});
    if (word.is_token("scan["))
      return make(c, SyntaxKind::Scan, c->child(3) ? c->child(3)->source : "",
                  {binders(c->binders()), expr(c->expr())});
    if (!word.is_token("scatter[")) return error(c);
    Nodes children{binders(c->binders()), expr(c->expr()), expr(c->expr(1))};
    for (SyntaxPtr at : elements(c)) children.push_back(at);
    return make(c, SyntaxKind::Scatter, text(c->update()), children);
  }
  SyntaxPtr call(Part e) {
    Nodes children{expr(e->expr())};
    const bool prints = children[0]->is(SyntaxKind::Name) && takes_format_strings(children[0]->text);
    if (e->arguments())
      for (Part a : e->arguments()->rules(P::RuleArgument)) {
        children.push_back(a->name() ? make(a, SyntaxKind::NamedArgument, text(a->name()), {expr(a->expr())})
                                     : element(a->element()));
        if (prints) children.back() = build_printed(*this, children.back(), source_, parse_inner_, problems_);
      }
    return make(e, SyntaxKind::Call, "", children);
  }
  // `.conv1.weight` is one dotted name to the lexer but two fields.
  SyntaxPtr field(Part e) {
    SyntaxPtr record = expr(e->expr());
    std::string path = text(e->name());
    size_t start = 0;
    while (true) {
      size_t dot = path.find('.', start);
      Range range = e->range;
      if (dot != std::string::npos) range.end -= static_cast<uint32_t>(path.size() - dot);
      record = make_at(range, SyntaxKind::Field, path.substr(start, dot - start), {record});
      if (dot == std::string::npos) return record;
      start = dot + 1;
    }
  }
  // A minus before a literal folds into it.
  SyntaxPtr unary(Part e) {
    SyntaxPtr operand = expr(e->expr());
    const std::string_view symbol = e->child(0)->source;
    if (symbol == "-" && (operand->is(SyntaxKind::Int) || operand->is(SyntaxKind::Float)) &&
        operand->text[0] != '-')
      return make(e, operand->kind, "-" + std::string(operand->text), {});
    return make(e, SyntaxKind::Unary, symbol, {operand});
  }
  SyntaxPtr index_item(Part c) {
    Part first = c->child(0);
    if (!first) return error(c);
    if (first->is_token("...")) return make(c, SyntaxKind::Ellipsis, "", {});
    if (first->is_token("..")) return make(c, SyntaxKind::Spread, "", {expr(c->expr())});
    if (first->is_token("~")) return make(c, SyntaxKind::BroadcastSpread, text(c->name()), {});
    if (!c->has(":")) return expr(c->expr());
    // The parts of a slice, by the colons before them.
    Nodes ends(3, nullptr);
    size_t colons = 0;
    for (Part part : c->children)
      if (part->is_token(":"))
        colons = std::min<size_t>(colons + 1, 2);
      else if (part->is_rule(P::RuleExpr))
        ends[colons] = expr(part);
    return make(c, SyntaxKind::Slice, "", ends);
  }
  SyntaxPtr binders(Part c) {
    Nodes list;
    if (c)
      for (Part b : c->rules(P::RuleBinder)) {
        const bool pack = b->has("..");
        SyntaxPtr extent = b->expr() ? expr(b->expr()) : nullptr;
        if (b->has("<=")) extent = make(b->expr(), SyntaxKind::UpTo, "", {extent ? extent : error(b)});
        list.push_back(make(b, pack ? SyntaxKind::PackBinder : SyntaxKind::Binder,
                            b->name() ? text(b->name()) : "_", {extent}));
      }
    return make(c, SyntaxKind::Binders, "", list);
  }
  SyntaxPtr element(Part c) {
    if (c && c->sequence()) return sequence(c->sequence());
    if (!c || (!c->expr() && !c->scheduled())) return error(c);
    if (!c->scheduled()) return make(c, SyntaxKind::Spread, "", {expr(c->expr())});
    if (!c->name()) return scheduled(c->scheduled());
    return make(c, SyntaxKind::Generator, text(c->name()),
                {scheduled(c->scheduled()), expr(c->expr()), c->expr(1) ? expr(c->expr(1)) : nullptr});
  }
  Nodes elements(Part c) {
    Nodes out;
    for (Part e : c->rules(P::RuleElement)) out.push_back(element(e));
    return out;
  }
  Nodes type_arguments(Part c) {
    Nodes out;
    if (c)
      for (Part a : c->rules(P::RuleTypeArgument)) out.push_back(type_argument(a));
    return out;
  }
  SyntaxPtr type_argument(Part a) {
    return a->type() ? type(a->type()) : make(a, SyntaxKind::Int, text(a), {});
  }

  /// `(e,)`, whereas `(e)` groups.
  bool ends_in_comma(Part c) {
    return c->children.size() > 2 && c->children[c->children.size() - 2]->is_token(",");
  }
  SyntaxPtr primary(Part c) {
    Part first = c ? c->child(0) : nullptr;
    if (!first) return error(c);
    if (first->is_rule(P::RuleLiteral)) return literal(first);
    if (first->is_rule(P::RuleName))
      return make(c, SyntaxKind::Name, text(first), type_arguments(c->typeArguments()));
    if (first->is_rule(P::RuleBlock)) return block(first);
    switch (first->token_type) {
      case P::LOCAL: return make(c, SyntaxKind::Local, strip(first), {});
      case P::GRAPH: return make(c, SyntaxKind::GraphName, strip(first), {});
      case P::GLOBAL:
        return make(c, SyntaxKind::GlobalName, strip(first), type_arguments(c->typeArguments()));
    }
    return worded(c, first->source);
  }
  /// A primary that begins with a word or a bracket.
  SyntaxPtr worded(Part c, std::string_view word) {
    if (word == "(") {
      Nodes items = elements(c);
      if (items.size() == 1 && !ends_in_comma(c) && !items[0]->is(SyntaxKind::Spread) &&
          !items[0]->is(SyntaxKind::Generator))
        return make(c, SyntaxKind::Paren, "", items);
      return make(c, SyntaxKind::Tuple, "", items);
    }
    if (word == "[") return make(c, SyntaxKind::List, "", elements(c));
    if (word == "if")
      return make(c, SyntaxKind::If, "", {expr(c->expr()), block(c->block()), primary(c->primary())});
    if (word == "match" || word == "match?") return match(c);
    if (word == "fn")
      return make(
          c, SyntaxKind::Fn, "",
          {type_params(c->typeParams()), params(c->params(), c), optional_type(c), block(c->block())});
    if (word == "None") return make(c, SyntaxKind::None, "None", type_arguments(c->typeArguments()));
    if (word == "meta")
      return make(c, SyntaxKind::Meta, text(c->name()) + "[" + text(c->token(P::INT)) + "]", {});
    if (word == "?") return make(c, SyntaxKind::AnyDim, "", {});
    if (word == "_") return make(c, SyntaxKind::HoleType, "", {});
    return error(c);
  }
  SyntaxPtr literal(Part c) {
    if (!c) return error(nullptr);
    std::string word = text(c);
    if (c->token(P::INT)) return make(c, SyntaxKind::Int, word, {});
    if (c->token(P::FLOAT)) return make(c, SyntaxKind::Float, word, {});
    if (c->token(P::STRING)) return make(c, SyntaxKind::String, string(c->token(P::STRING)), {});
    if (word == "None") return make(c, SyntaxKind::None, word, {});
    if (word == "True" || word == "False") return make(c, SyntaxKind::Bool, word, {});
    return error(c);
  }
  SyntaxPtr match(Part c) {
    Nodes children{expr(c->expr())};
    for (Part a : c->rules(P::RuleArm))
      children.push_back(
          make(a, SyntaxKind::Arm, "",
               {pattern(a->pattern()), a->sequence() ? sequence(a->sequence()) : scheduled(a->scheduled())}));
    return make(c, SyntaxKind::Match, c->child(0)->source, children);
  }
  SyntaxPtr pattern(Part c) {
    Part first = c ? c->child(0) : nullptr;
    if (!first) return error(c);
    if (first->is_token("_") || first->is_token(P::UNDERSCORE_LOCAL))
      return make(c, SyntaxKind::WildcardPattern, "", {});
    if (first->is_token(P::LOCAL))
      return make(c, SyntaxKind::VariablePattern, strip(first), {optional_type(c)});
    if (first->is_rule(P::RuleConstructorName))
      return make(c, SyntaxKind::ConstructorPattern, text(first), {});
    return c->parts() ? parts(c->parts()) : error(c);
  }
  SyntaxPtr parts(Part c) {
    if (!c || c->children.empty()) return error(c);
    Nodes list;
    if (Part constructor = c->constructorName()) {
      for (Part q : c->rules(P::RulePart))
        list.push_back(q->name() ? make(q, SyntaxKind::FieldPattern, text(q->name()), {pattern(q->pattern())})
                                 : pattern(q->pattern()));
      return make(c, SyntaxKind::ConstructorPattern, text(constructor), list);
    }
    for (Part q : c->rules(P::RulePattern)) list.push_back(pattern(q));
    if (list.size() == 1 && !ends_in_comma(c)) return list[0];
    return make(c, SyntaxKind::TuplePattern, "", list);
  }

  // --- types
  /// The type behind a `:` or a `->`; null if there is none.
  SyntaxPtr optional_type(Part owner) { return owner->type() ? type(owner->type()) : nullptr; }
  SyntaxPtr type(Part c) {
    Part first = c ? c->child(0) : nullptr;
    if (!first) return error(c);
    Nodes parts;
    if (first->is_rule(P::RuleName)) {
      for (Part p : c->rules(P::RuleTypePart)) parts.push_back(p->type() ? type(p->type()) : expr(p->expr()));
      for (Part a : c->rules(P::RuleTypeArgument)) parts.push_back(type_argument(a));
      return make(c, SyntaxKind::NamedType, text(first), parts);
    }
    const std::string_view word = first->source;
    if (word == "_") return make(c, SyntaxKind::HoleType, "", {});
    if (word == "Tensor") return make(c, SyntaxKind::TensorType, "", {expr(c->expr()), expr(c->expr(1))});
    if (word == "ref") return make(c, SyntaxKind::NamedType, "Ref", {type(c->type())});
    if (word == "(" && c->has("for"))
      return make(c, SyntaxKind::FamilyType, text(c->name()), {type(c->type()), expr(c->expr())});
    for (Part p : c->rules(P::RuleType)) parts.push_back(type(p));
    if (word == "fn") {
      SyntaxPtr function = make(c, SyntaxKind::FunctionType, "", parts);
      if (!c->typeParams()) return function;
      return make(c, SyntaxKind::GeneralType, "", {type_params(c->typeParams()), function});
    }
    if (word != "(") return error(c);
    if (parts.size() == 1 && !ends_in_comma(c)) return parts[0];
    return make(c, SyntaxKind::TupleType, "", parts);
  }

  std::string_view source_;
  const InnerParser& parse_inner_;
  std::vector<SyntaxProblem>& problems_;
};

void number(Syntax* node, const std::vector<std::pair<Syntax*, Range>>& made, std::vector<Range>& spans) {
  Range span = made[node->id].second;
  node->id = static_cast<uint32_t>(spans.size());
  spans.push_back(span);
  for (SyntaxPtr child : node->children)
    if (child) number(const_cast<Syntax*>(child), made, spans);
}

}  // namespace

void build_syntax(const ParseNode& unit, std::string_view text, const InnerParser& parse_inner,
                  ParseOutcome& outcome) {
  auto arena = std::make_shared<Arena>();
  Builder builder(*arena, text, parse_inner, outcome.problems);
  builder.made.reserve(text.size() / 2);  // of most texts
  SyntaxPtr root = builder.item(unit.item());
  outcome.spans.reserve(builder.made.size() + 1);
  outcome.spans.push_back(unit.range);
  number(const_cast<Syntax*>(root), builder.made, outcome.spans);
  outcome.tree = {arena, root, head_of(root, *arena), static_cast<uint32_t>(outcome.spans.size() - 1)};
}

}  // namespace quern
