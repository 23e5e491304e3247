#include "frontend/parse/parser_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <typeinfo>

#include "frontend/syntax/called_words.h"

namespace quern {

namespace {

using P = quern_grammar::QuernParser;

// Casts a rule's context to one of its alternatives. No class derives from these, so comparing type_info
// suffices; a dynamic_cast costs several times as much.
template <class Alternative, class Context>
Alternative* alternative(Context* c) {
  return c && typeid(*c).name() == typeid(Alternative).name() ? static_cast<Alternative*>(c) : nullptr;
}

// One function per rule of the grammar. A context that recovery left null or empty becomes an Error node. A
// second walk assigns ids in preorder, once the tree's shape is final.
class Builder : private NodeMaker {
 public:
  using NodeMaker::made;
  Builder(Arena& arena, const SourceMap& source, const InnerParser& parse_inner,
          std::vector<SyntaxProblem>& problems)
      : NodeMaker(arena, source), parse_inner_(parse_inner), problems_(problems) {}

  SyntaxPtr item(P::ItemContext* c) {
    if (!c) return error(nullptr);
    if (auto* d = c->defDecl()) return def(d);
    if (auto* d = c->opDecl()) return op(d);
    if (auto* d = c->typeDecl()) return type_decl(d);
    if (auto* d = c->externTypeDecl())
      return make(d, SyntaxKind::ExternType, text(d->name()), {type_params(d->typeParams())});
    if (auto* d = c->importDecl()) return import(d);
    if (auto* d = c->testDecl()) return make(d, SyntaxKind::Test, string(d->STRING()), {block(d->block())});
    if (auto* d = c->infixDecl()) return make(d, SyntaxKind::Infix, string(d->STRING()), {name(d->name())});
    if (auto* d = c->staticDecl())
      return make(d, SyntaxKind::Static, strip(d->GLOBAL()), {params(d->params(), d), block(d->block())});
    if (auto* s = c->statement()) return statement(s);
    return error(c);
  }

 private:
  // --- declarations
  SyntaxPtr def(P::DefDeclContext* d) {
    std::string called = d->GLOBAL() ? "@" + strip(d->GLOBAL()) : text(d->name());
    return make(d, SyntaxKind::Def, called,
                {type_params(d->typeParams()), params(d->params(), d), d->type() ? type(d->type()) : nullptr,
                 clauses(d->clause(), d), bodies(d->bodies(), d)});
  }
  SyntaxPtr op(P::OpDeclContext* d) {
    bool is_extern = d->getStart() && text(d->getStart()) == "extern";
    return make(d, is_extern ? SyntaxKind::ExternOp : SyntaxKind::Op, text(d->name()),
                {type_params(d->typeParams()), params(d->params(), d), result_type(d->resultType()),
                 clauses(d->clause(), d), bodies(d->bodies(), d)});
  }
  SyntaxPtr result_type(P::ResultTypeContext* c) {
    bool complete = c && c->type().size() == c->expr().size() + 1;
    if (!complete || c->expr().empty()) return type(complete ? c->type(0) : nullptr);
    Nodes cases;
    for (size_t i = 0; i < c->type().size(); ++i) {
      if (i < c->expr().size()) cases.push_back(expr(c->expr(i)));
      cases.push_back(type(c->type(i)));
    }
    return make(c, SyntaxKind::CasesType, "", cases);
  }
  SyntaxPtr type_decl(P::TypeDeclContext* d) {
    if (d->type())
      return make(d, SyntaxKind::TypeAlias, text(d->name()), {type_params(d->typeParams()), type(d->type())});
    Nodes children{type_params(d->typeParams())};
    for (auto* c : d->constructor()) {
      Nodes fields;
      for (auto* f : c->constructorField())
        fields.push_back(make(f, SyntaxKind::ConstructorField, text(f->name()), {type(f->type())}));
      children.push_back(make(c, SyntaxKind::Constructor, text(c->constructorName()), fields));
    }
    return make(d, SyntaxKind::TypeDecl, text(d->name()), children);
  }
  SyntaxPtr import(P::ImportDeclContext* d) {
    if (!d->name()) return make(d, SyntaxKind::Import, string(d->STRING()), {});
    return make(d, SyntaxKind::ImportAs, string(d->STRING()), {name(d->name())});
  }
  SyntaxPtr type_params(P::TypeParamsContext* c) {
    if (!c) return nullptr;
    Nodes names;
    for (auto* n : c->name()) names.push_back(name(n));
    return make(c, SyntaxKind::TypeParams, "", names);
  }
  SyntaxPtr params(P::ParamsContext* c, antlr4::ParserRuleContext* owner) {
    Nodes list;
    if (c)
      for (auto* p : c->param()) list.push_back(param(p));
    return c ? make(c, SyntaxKind::Params, "", list) : make_at(start_of(owner), SyntaxKind::Params, "", list);
  }
  SyntaxPtr param(P::ParamContext* c) {
    if (auto* t = alternative<P::TensorParamContext>(c))
      return make(c, SyntaxKind::TensorParam, strip(t->LOCAL()), tensor_param(t));
    if (auto* a = alternative<P::AttributeParamContext>(c)) {
      if (a->kind() && !is_attribute_kind(text(a->kind()))) return parameter_without_sigil(a);
      return make(c, SyntaxKind::AttributeParam, text(a->name()),
                  {a->kind() ? make(a->kind(), SyntaxKind::Kind, text(a->kind()), {}) : nullptr,
                   a->expr() ? expr(a->expr()) : nullptr});
    }
    return error(c);
  }
  Nodes tensor_param(P::TensorParamContext* t) {
    Nodes children{t->type() ? type(t->type()) : nullptr};
    if (P::NotedContext* noted = t->noted())
      for (size_t i = 0; i < std::min(noted->name().size(), noted->expr().size()); ++i) {
        Range range = source_.span_of(noted->name(i));
        range.end = source_.span_of(noted->expr(i)).end;
        children.push_back(
            make_at(range, SyntaxKind::NamedArgument, text(noted->name(i)), {expr(noted->expr(i))}));
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
  SyntaxPtr parameter_without_sigil(P::AttributeParamContext* a) {
    std::string called = text(a->name());
    Range at = source_.span_of(a->name());
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
  SyntaxPtr string_node(antlr4::tree::TerminalNode* token) {
    if (!token) return nullptr;
    return make_at(source_.span_of(token->getSymbol()), SyntaxKind::String, string(token), {});
  }
  SyntaxPtr clauses(const std::vector<P::ClauseContext*>& list, antlr4::ParserRuleContext* owner) {
    Nodes out;
    for (auto* c : list) {
      if (auto* w = alternative<P::WhereClauseContext>(c)) {
        out.push_back(make(c, SyntaxKind::Where, "", {expr(w->expr()), string_node(w->STRING())}));
      } else if (auto* v = alternative<P::WarnClauseContext>(c)) {
        out.push_back(make(c, SyntaxKind::WarnClause, "",
                           {expr(v->expr()), string_node(v->STRING(0)), string_node(v->STRING(1))}));
      } else if (auto* s = alternative<P::StaticClauseContext>(c)) {
        out.push_back(make(c, SyntaxKind::StaticClause, text(s->name()), {expr(s->expr())}));
      } else if (auto* g = alternative<P::GradientClauseContext>(c)) {
        out.push_back(make(c, SyntaxKind::Gradient, "", {params(g->params(), c), block(g->block())}));
      } else if (auto* h = alternative<P::ShapeClauseContext>(c)) {
        out.push_back(make(c, SyntaxKind::ShapeClause, "", {params(h->params(), c), block(h->block())}));
      } else if (auto* l = alternative<P::LoweringClauseContext>(c)) {
        antlr4::tree::TerminalNode* needs = l->STRING(1);
        out.push_back(make(c, SyntaxKind::LoweringClause, string(l->STRING(0)),
                           {make_at(needs ? source_.span_of(needs->getSymbol()) : Range{}, SyntaxKind::String,
                                    string(needs), {})}));
      } else if (auto* o = alternative<P::ScheduleClauseContext>(c)) {
        out.push_back(build_schedule(*this, o->schedule()));
      }
    }
    return list.empty() ? make_at(start_of(owner), SyntaxKind::Clauses, "", out)
                        : make(list.front(), SyntaxKind::Clauses, "", out);
  }
  SyntaxPtr bodies(P::BodiesContext* c, antlr4::ParserRuleContext* owner) {
    Nodes list;
    if (c && c->block()) list.push_back(make(c, SyntaxKind::When, "", {nullptr, block(c->block())}));
    if (c)
      for (auto* w : c->whenBody())
        list.push_back(make(w, SyntaxKind::When, "", {expr(w->expr()), block(w->block())}));
    if (c && c->elseBody())
      list.push_back(make(c->elseBody(), SyntaxKind::When, "", {nullptr, block(c->elseBody()->block())}));
    return make(c ? static_cast<antlr4::ParserRuleContext*>(c) : owner, SyntaxKind::Bodies, "", list);
  }

  // --- statements and blocks
  SyntaxPtr statement(P::StatementContext* c) {
    if (c && c->scheduled()) return scheduled(c->scheduled());
    return c ? bound(c->bound()) : error(c);
  }
  SyntaxPtr bound(P::BoundContext* c) {
    if (auto* s = alternative<P::LetStatementContext>(c))
      return make(c, SyntaxKind::Let, s->LOCAL() ? strip(s->LOCAL()) : "_",
                  {s->type() ? type(s->type()) : nullptr, scheduled(s->scheduled())});
    if (auto* s = alternative<P::LetPatternStatementContext>(c)) {
      SyntaxPtr pattern = parts(s->parts()), written = s->type() ? type(s->type()) : nullptr;
      if (pattern->is(SyntaxKind::WildcardPattern))
        return make(c, SyntaxKind::Let, "_", {written, scheduled(s->scheduled())});
      if (pattern->is(SyntaxKind::VariablePattern))
        return make(c, SyntaxKind::Let, pattern->text,
                    {written ? written : pattern->child(0), scheduled(s->scheduled())});
      return make(c, SyntaxKind::LetPattern, "", {pattern, written, scheduled(s->scheduled())});
    }
    if (auto* s = alternative<P::GraphStatementContext>(c))
      return make(c, SyntaxKind::GraphLet, strip(s->GRAPH()), {scheduled(s->scheduled())});
    if (auto* s = alternative<P::FreeVarStatementContext>(c))
      return make(c, SyntaxKind::FreeVar, strip(s->LOCAL()), {s->type() ? type(s->type()) : nullptr});
    return error(c);
  }
  SyntaxPtr block(P::BlockContext* c) {
    if (!c) return error(nullptr);
    Nodes list;
    for (auto* s : c->statement()) list.push_back(statement(s));
    return make(c, SyntaxKind::Block, "", list);
  }
  SyntaxPtr sequence(P::SequenceContext* c) {
    Nodes list{bound(c->bound())};
    for (auto* s : c->statement()) list.push_back(statement(s));
    return make(c, SyntaxKind::Block, "", list);
  }

  SyntaxPtr scheduled(P::ScheduledContext* c) {
    if (!c) return error(nullptr);
    SyntaxPtr value = expr(c->expr());
    if (!c->schedule()) return value;
    return make(c, SyntaxKind::Scheduled, "", {value, build_schedule(*this, c->schedule())});
  }

  // --- expressions
  SyntaxPtr expr(P::ExprContext* c) {
    if (auto* e = alternative<P::PrimaryExprContext>(c)) return primary(e->primary());
    if (auto* e = alternative<P::CallExprContext>(c)) return call(e);
    if (auto* e = alternative<P::ProjectExprContext>(c))
      return make(c, SyntaxKind::Project, strip(e->PROJECTION()), {expr(e->expr())});
    if (auto* e = alternative<P::FieldExprContext>(c)) return field(e);
    if (auto* e = alternative<P::IndexExprContext>(c)) {
      Nodes children{expr(e->expr())};
      for (auto* i : e->indexItem()) children.push_back(index_item(i));
      return make(c, SyntaxKind::Index, "", children);
    }
    if (auto* e = alternative<P::UnaryExprContext>(c)) return unary(e);
    if (auto* e = alternative<P::ElseExprContext>(c))
      return make(c, SyntaxKind::ReadElse, "", {expr(e->expr(0)), expr(e->expr(1))});
    if (auto* e = alternative<P::BinaryExprContext>(c))
      return make(c, SyntaxKind::Binary, text(e->op), {expr(e->expr(0)), expr(e->expr(1))});
    if (auto* e = alternative<P::NotExprContext>(c))
      return make(c, SyntaxKind::Unary, "not", {expr(e->expr())});
    if (auto* e = alternative<P::AndExprContext>(c))
      return make(c, SyntaxKind::Binary, "and", {expr(e->expr(0)), expr(e->expr(1))});
    if (auto* e = alternative<P::OrExprContext>(c))
      return make(c, SyntaxKind::Binary, "or", {expr(e->expr(0)), expr(e->expr(1))});
    if (auto* e = alternative<P::AssignExprContext>(c))
      return make(c, SyntaxKind::Binary, ":=", {expr(e->expr(0)), expr(e->expr(1))});
    return index_form(c);
  }
  SyntaxPtr index_form(P::ExprContext* c) {
    if (auto* e = alternative<P::ReduceExprContext>(c)) {
      std::string word = text(e->REDUCE());
      word.pop_back();
      return make(c, SyntaxKind::Reduce, word, {binders(e->binders()), expr(e->expr())});
    }
    if (auto* e = alternative<P::ComprehensionExprContext>(c))
      return make(c, SyntaxKind::Comprehension, "", {binders(e->binders()), expr(e->expr())});
    if (auto* e = alternative<P::ScanExprContext>(c))
      return make(c, SyntaxKind::Scan, text(e->op), {binders(e->binders()), expr(e->expr())});
    if (auto* e = alternative<P::ScatterExprContext>(c)) {
      Nodes children{binders(e->binders()), expr(e->expr(0)),
                     expr(e->expr().size() > 1 ? e->expr(1) : nullptr)};
      for (SyntaxPtr at : elements(e->element())) children.push_back(at);
      return make(c, SyntaxKind::Scatter, text(e->update()), children);
    }
    return error(c);
  }
  SyntaxPtr call(P::CallExprContext* e) {
    Nodes children{expr(e->expr())};
    const bool prints = children[0]->is(SyntaxKind::Name) && takes_format_strings(children[0]->text);
    if (e->arguments())
      for (auto* a : e->arguments()->argument()) {
        children.push_back(a->name() ? make(a, SyntaxKind::NamedArgument, text(a->name()), {expr(a->expr())})
                                     : element(a->element()));
        if (prints)
          children.back() = build_printed(*this, children.back(), source_.text(), parse_inner_, problems_);
      }
    return make(e, SyntaxKind::Call, "", children);
  }
  // `.conv1.weight` is one dotted name to the lexer but two fields.
  SyntaxPtr field(P::FieldExprContext* e) {
    SyntaxPtr record = expr(e->expr());
    std::string path = text(e->name());
    size_t start = 0;
    while (true) {
      size_t dot = path.find('.', start);
      Range range = source_.span_of(e);
      if (dot != std::string::npos) range.end -= static_cast<uint32_t>(path.size() - dot);
      record = make_at(range, SyntaxKind::Field, path.substr(start, dot - start), {record});
      if (dot == std::string::npos) return record;
      start = dot + 1;
    }
  }
  // A minus before a literal folds into it.
  SyntaxPtr unary(P::UnaryExprContext* e) {
    SyntaxPtr operand = expr(e->expr());
    std::string symbol = text(e->op);
    if (symbol == "-" && (operand->is(SyntaxKind::Int) || operand->is(SyntaxKind::Float)) &&
        operand->text[0] != '-')
      return make(e, operand->kind, "-" + std::string(operand->text), {});
    return make(e, SyntaxKind::Unary, symbol, {operand});
  }
  SyntaxPtr index_item(P::IndexItemContext* c) {
    if (alternative<P::EllipsisIndexContext>(c)) return make(c, SyntaxKind::Ellipsis, "", {});
    if (auto* i = alternative<P::SpreadIndexContext>(c))
      return make(c, SyntaxKind::Spread, "", {expr(i->expr())});
    if (auto* i = alternative<P::BroadcastIndexContext>(c))
      return make(c, SyntaxKind::BroadcastSpread, text(i->name()), {});
    if (auto* i = alternative<P::SliceIndexContext>(c))
      return make(c, SyntaxKind::Slice, "",
                  {i->first ? expr(i->first) : nullptr, i->last ? expr(i->last) : nullptr,
                   i->step ? expr(i->step) : nullptr});
    if (auto* i = alternative<P::PlainIndexContext>(c)) return expr(i->expr());
    return error(c);
  }
  SyntaxPtr binders(P::BindersContext* c) {
    Nodes list;
    if (c)
      for (auto* b : c->binder()) {
        bool pack = b->getStart() && text(b->getStart()) == "..";
        SyntaxPtr extent = b->expr() ? expr(b->expr()) : nullptr;
        if (b->upTo) extent = make(b->expr(), SyntaxKind::UpTo, "", {extent ? extent : error(b)});
        list.push_back(make(b, pack ? SyntaxKind::PackBinder : SyntaxKind::Binder,
                            b->name() ? text(b->name()) : "_", {extent}));
      }
    return make(c, SyntaxKind::Binders, "", list);
  }
  SyntaxPtr element(P::ElementContext* c) {
    if (c && c->sequence()) return sequence(c->sequence());
    if (!c || (c->expr().empty() && !c->scheduled())) return error(c);
    if (!c->scheduled()) return make(c, SyntaxKind::Spread, "", {expr(c->expr(0))});
    if (!c->name()) return scheduled(c->scheduled());
    return make(c, SyntaxKind::Generator, text(c->name()),
                {scheduled(c->scheduled()), expr(c->expr().empty() ? nullptr : c->expr(0)),
                 c->expr().size() > 1 ? expr(c->expr(1)) : nullptr});
  }
  Nodes elements(const std::vector<P::ElementContext*>& list) {
    Nodes out;
    for (auto* e : list) out.push_back(element(e));
    return out;
  }
  Nodes type_arguments(P::TypeArgumentsContext* c) {
    Nodes out;
    if (c)
      for (auto* a : c->typeArgument()) out.push_back(type_argument(a));
    return out;
  }
  SyntaxPtr type_argument(P::TypeArgumentContext* a) {
    return a->type() ? type(a->type()) : make(a, SyntaxKind::Int, text(a), {});
  }

  /// `(e,)`, whereas `(e)` groups.
  bool ends_in_comma(antlr4::ParserRuleContext* c) {
    return c->children.size() > 2 && text(c->children[c->children.size() - 2]) == ",";
  }
  SyntaxPtr primary(P::PrimaryContext* c) {
    if (auto* p = alternative<P::LiteralPrimaryContext>(c)) return literal(p->literal());
    if (auto* p = alternative<P::LocalPrimaryContext>(c))
      return make(c, SyntaxKind::Local, strip(p->LOCAL()), {});
    if (auto* p = alternative<P::GraphPrimaryContext>(c))
      return make(c, SyntaxKind::GraphName, strip(p->GRAPH()), {});
    if (auto* p = alternative<P::GlobalPrimaryContext>(c))
      return make(c, SyntaxKind::GlobalName, strip(p->GLOBAL()), type_arguments(p->typeArguments()));
    if (auto* p = alternative<P::NamePrimaryContext>(c))
      return make(c, SyntaxKind::Name, text(p->name()), type_arguments(p->typeArguments()));
    if (auto* p = alternative<P::NonePrimaryContext>(c))
      return make(c, SyntaxKind::None, "None", type_arguments(p->typeArguments()));
    if (auto* p = alternative<P::MetaPrimaryContext>(c))
      return make(c, SyntaxKind::Meta, text(p->name()) + "[" + text(p->INT()) + "]", {});
    if (auto* p = alternative<P::FnPrimaryContext>(c))
      return make(c, SyntaxKind::Fn, "",
                  {type_params(p->typeParams()), params(p->params(), c),
                   p->type() ? type(p->type()) : nullptr, block(p->block())});
    if (auto* p = alternative<P::IfPrimaryContext>(c)) {
      SyntaxPtr otherwise = p->block().size() > 1 ? block(p->block(1)) : primary(p->primary());
      return make(c, SyntaxKind::If, "", {expr(p->expr()), block(p->block(0)), otherwise});
    }
    if (auto* p = alternative<P::MatchPrimaryContext>(c)) return match(p);
    if (auto* p = alternative<P::TuplePrimaryContext>(c)) {
      Nodes items = elements(p->element());
      if (items.size() == 1 && !ends_in_comma(c) && !items[0]->is(SyntaxKind::Spread) &&
          !items[0]->is(SyntaxKind::Generator))
        return make(c, SyntaxKind::Paren, "", items);
      return make(c, SyntaxKind::Tuple, "", items);
    }
    if (auto* p = alternative<P::ListPrimaryContext>(c))
      return make(c, SyntaxKind::List, "", elements(p->element()));
    if (auto* p = alternative<P::BlockPrimaryContext>(c)) return block(p->block());
    if (alternative<P::AnyPrimaryContext>(c)) return make(c, SyntaxKind::AnyDim, "", {});
    if (alternative<P::HolePrimaryContext>(c)) return make(c, SyntaxKind::HoleType, "", {});
    return error(c);
  }
  SyntaxPtr literal(P::LiteralContext* c) {
    if (!c) return error(nullptr);
    std::string word = text(c);
    if (c->INT()) return make(c, SyntaxKind::Int, word, {});
    if (c->FLOAT()) return make(c, SyntaxKind::Float, word, {});
    if (c->STRING()) return make(c, SyntaxKind::String, string(c->STRING()), {});
    if (word == "None") return make(c, SyntaxKind::None, word, {});
    if (word == "True" || word == "False") return make(c, SyntaxKind::Bool, word, {});
    return error(c);
  }
  SyntaxPtr match(P::MatchPrimaryContext* c) {
    Nodes children{expr(c->expr())};
    for (auto* a : c->arm())
      children.push_back(
          make(a, SyntaxKind::Arm, "",
               {pattern(a->pattern()), a->sequence() ? sequence(a->sequence()) : scheduled(a->scheduled())}));
    return make(c, SyntaxKind::Match, text(c->getStart()), children);
  }
  SyntaxPtr pattern(P::PatternContext* c) {
    if (alternative<P::WildcardPatternContext>(c)) return make(c, SyntaxKind::WildcardPattern, "", {});
    if (auto* p = alternative<P::VariablePatternContext>(c))
      return make(c, SyntaxKind::VariablePattern, strip(p->LOCAL()), {p->type() ? type(p->type()) : nullptr});
    if (auto* p = alternative<P::PlainPatternContext>(c))
      return make(c, SyntaxKind::ConstructorPattern, text(p->constructorName()), {});
    if (auto* p = alternative<P::PartsPatternContext>(c)) return parts(p->parts());
    return error(c);
  }
  SyntaxPtr parts(P::PartsContext* c) {
    Nodes list;
    if (auto* p = alternative<P::ConstructorPartsContext>(c)) {
      for (auto* q : p->part())
        list.push_back(q->name() ? make(q, SyntaxKind::FieldPattern, text(q->name()), {pattern(q->pattern())})
                                 : pattern(q->pattern()));
      return make(c, SyntaxKind::ConstructorPattern, text(p->constructorName()), list);
    }
    if (auto* p = alternative<P::TuplePartsContext>(c)) {
      for (auto* q : p->pattern()) list.push_back(pattern(q));
      if (list.size() == 1 && !ends_in_comma(c)) return list[0];
      return make(c, SyntaxKind::TuplePattern, "", list);
    }
    return error(c);
  }

  // --- types
  SyntaxPtr type(P::TypeContext* c) {
    if (alternative<P::HoleTypeContext>(c)) return make(c, SyntaxKind::HoleType, "", {});
    if (auto* t = alternative<P::TensorTypeContext>(c))
      return make(c, SyntaxKind::TensorType, "", {expr(t->expr(0)), expr(t->expr(1))});
    if (auto* t = alternative<P::FamilyTypeContext>(c))
      return make(c, SyntaxKind::FamilyType, text(t->name()), {type(t->type()), expr(t->expr())});
    Nodes parts;
    if (auto* t = alternative<P::TupleTypeContext>(c)) {
      for (auto* p : t->type()) parts.push_back(type(p));
      if (parts.size() == 1 && !ends_in_comma(c)) return parts[0];
      return make(c, SyntaxKind::TupleType, "", parts);
    }
    if (auto* t = alternative<P::FunctionTypeContext>(c)) {
      for (auto* p : t->type()) parts.push_back(type(p));
      SyntaxPtr function = make(c, SyntaxKind::FunctionType, "", parts);
      if (!t->typeParams()) return function;
      return make(c, SyntaxKind::GeneralType, "", {type_params(t->typeParams()), function});
    }
    if (auto* t = alternative<P::RefTypeContext>(c))
      return make(c, SyntaxKind::NamedType, "Ref", {type(t->type())});
    if (auto* t = alternative<P::NamedTypeContext>(c)) {
      for (auto* p : t->typePart()) parts.push_back(p->type() ? type(p->type()) : expr(p->expr()));
      for (auto* a : t->typeArgument()) parts.push_back(type_argument(a));
      return make(c, SyntaxKind::NamedType, text(t->name()), parts);
    }
    return error(c);
  }

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

void build_syntax(P::UnitContext* unit, const SourceMap& source, const InnerParser& parse_inner,
                  ParseOutcome& outcome) {
  auto arena = std::make_shared<Arena>();
  Builder builder(*arena, source, parse_inner, outcome.problems);
  SyntaxPtr root = builder.item(unit->item());
  outcome.spans = {source.span_of(unit)};
  number(const_cast<Syntax*>(root), builder.made, outcome.spans);
  outcome.tree = {arena, root, static_cast<uint32_t>(outcome.spans.size() - 1)};
}

}  // namespace quern
