// Names of expressions, patterns and types.

#include <algorithm>
#include <utility>

#include "frontend/names/name_range.h"
#include "frontend/names/name_walk.h"
#include "frontend/names/scope_guard.h"

namespace quern {

void NameWalk::visit_all(std::span<const SyntaxPtr> list) {
  for (SyntaxPtr s : list) visit(s);
}

void NameWalk::visit_in(Context context, SyntaxPtr s) {
  const Context outer = std::exchange(context_, context);
  visit(s);
  context_ = outer;
}

void NameWalk::visit(SyntaxPtr s) {
  if (!s) return;
  switch (s->kind) {
    case SyntaxKind::Local:
    case SyntaxKind::GraphName:
      if (!bound(s, variables_)) note_declared(s, NameKind::Variable, names_.variable(s->text));
      return;
    case SyntaxKind::GlobalName: return global(s);
    case SyntaxKind::Name:
    case SyntaxKind::None: return name(s);
    case SyntaxKind::BroadcastSpread: bound(s, statics_); return;
    case SyntaxKind::Let: return let(s, s->child(0), s->child(1));
    case SyntaxKind::GraphLet: return let(s, nullptr, s->child(0));
    case SyntaxKind::LetPattern:
      type(s->child(1));
      visit(s->child(2));
      return pattern(s->child(0));
    case SyntaxKind::FreeVar: type(s->child(0)); return declare(s, NameKind::Variable, variables_);
    case SyntaxKind::Block: {
      NameScope variables(variables_);
      return visit_all(s->children);
    }
    case SyntaxKind::Fn: {
      NameScope variables(variables_), statics(statics_);
      type_params(s->child(0));
      params(s->child(1));
      type(s->child(2));
      return visit(s->child(3));
    }
    case SyntaxKind::Arm: {
      NameScope variables(variables_);
      pattern(s->child(0));
      return visit(s->child(1));
    }
    case SyntaxKind::Reduce:
    case SyntaxKind::Scan:
    case SyntaxKind::Scatter:
    case SyntaxKind::Comprehension: return index_expression(s);
    case SyntaxKind::Generator: return family(s);
    case SyntaxKind::Call: return call(s);
    case SyntaxKind::Field:
      visit(s->child(0));
      note_declared(s, NameKind::Field, names_.field(s->child(0), s->text));
      return;
    case SyntaxKind::Unary:
    case SyntaxKind::Binary: symbol(s); return visit_all(s->children);
    case SyntaxKind::Scheduled: {
      const size_t indices = indices_.size();
      visit(s->child(0));
      std::vector<Bound> loops = loops_of_callee(s->child(0));
      loops.insert(loops.end(), indices_.begin() + static_cast<ptrdiff_t>(indices), indices_.end());
      return schedule(s->child(1), std::move(loops));
    }
    default: return visit_all(s->children);
  }
}

// A function literal sees its own name.
void NameWalk::let(SyntaxPtr s, SyntaxPtr annotation, SyntaxPtr value) {
  type(annotation);
  const bool recursive = value && value->is(SyntaxKind::Fn);
  if (!recursive) visit(value);
  if (s->text != "_") declare(s, NameKind::Variable, variables_);
  if (recursive) visit(value);
}

void NameWalk::pattern(SyntaxPtr s) {
  if (!s) return;
  if (s->is(SyntaxKind::VariablePattern)) {
    type(s->child(0));
    return declare(s, NameKind::Variable, variables_);
  }
  if (s->is(SyntaxKind::ConstructorPattern)) {
    const Origin constructor = names_.constructor(s->text);
    note_declared(s, NameKind::Constructor, constructor);
    SyntaxPtr declared = constructor == Origin{} ? nullptr : names_.node(constructor);
    for (SyntaxPtr part : s->children) {
      if (!declared || !part->is(SyntaxKind::FieldPattern)) continue;
      const auto field = std::ranges::find(declared->children, part->text, &Syntax::text);
      if (field != declared->children.end())
        note(part, {NameKind::Field, {constructor.declaration, (*field)->id}});
    }
  }
  for (SyntaxPtr part : s->children) pattern(part);
}

// --- index expressions and families

void NameWalk::index_expression(SyntaxPtr s) {
  NameScope statics(statics_);
  SyntaxPtr list = s->child(0);
  std::span<const SyntaxPtr> parts = s->children.subspan(std::min<size_t>(1, s->children.size()));
  // The initial value of a scatter is outside its loop.
  if (s->is(SyntaxKind::Scatter) && !parts.empty()) {
    visit_in(Context::Index, parts.front());
    parts = parts.subspan(1);
  }
  for (SyntaxPtr b : list ? list->children : std::span<const SyntaxPtr>()) {
    if (b->child(0)) visit_in(Context::Static, b->child(0));
    if (b->text == "_" || !(b->is(SyntaxKind::Binder) || b->is(SyntaxKind::PackBinder))) continue;
    declare(b, NameKind::Index, statics_);
    indices_.push_back(statics_.back());
  }
  for (SyntaxPtr part : parts) visit_in(Context::Index, part);
}

// `value for name < limit if condition`, of values and of types.
void NameWalk::family(SyntaxPtr s) {
  visit_in(Context::Static, s->child(1));
  const auto index = static_cast<ptrdiff_t>(statics_.size());
  declare(s, NameKind::Index, statics_);
  if (s->is(SyntaxKind::FamilyType)) {
    type(s->child(0));
  } else {
    visit(s->child(0));
    visit_in(Context::Static, s->child(2));
  }
  // Dims declared by a family in a signature stay in scope after it.
  statics_.erase(statics_.begin() + index);
}

// --- types

void NameWalk::type(SyntaxPtr s) {
  if (!s) return;
  switch (s->kind) {
    case SyntaxKind::TensorType:
      visit_in(Context::Static, s->child(0));
      return visit_in(Context::Static, s->child(1));
    case SyntaxKind::FamilyType: return family(s);
    case SyntaxKind::NamedType:
      if (!bound(s, statics_)) note_declared(s, NameKind::Type, names_.type(s->text));
      for (SyntaxPtr argument : s->children)
        is_type(argument) ? type(argument) : visit_in(Context::Static, argument);
      return;
    case SyntaxKind::GeneralType: {
      NameScope statics(statics_);
      type_params(s->child(0));
      return type(s->child(1));
    }
    case SyntaxKind::CasesType:
      for (size_t i = 0; i + 1 < s->children.size(); i += 2) {
        visit_in(Context::Static, s->children[i]);
        type(s->children[i + 1]);
      }
      return s->children.empty() ? void() : type(s->children.back());
    default: break;
  }
  for (SyntaxPtr part : s->children) type(part);
}

// --- names

void NameWalk::name(SyntaxPtr s) {
  for (SyntaxPtr argument : s->children) type(argument);
  if (bound(s, statics_)) return;
  if (context_ == Context::Value) {
    note_declared(s, NameKind::Constructor, names_.constructor(s->text)) ||
        note_declared(s, NameKind::Operator, names_.op(s->text));
  } else if (declares_dims_ && s->is(SyntaxKind::Name) && !parse_dtype(s->text)) {
    declare(s, NameKind::TypeParameter, statics_);
  }
}

void NameWalk::global(SyntaxPtr s) {
  for (SyntaxPtr argument : s->children) type(argument);
  auto definition = [&] { return note_declared(s, NameKind::Definition, names_.definition(s->text)); };
  auto function = [&] { return note_declared(s, NameKind::Static, names_.static_function(s->text)); };
  if (context_ == Context::Value)
    definition() || function();
  else
    function() || definition();
}

Origin NameWalk::operator_of(SyntaxPtr s) {
  const bool is_unary = s->is(SyntaxKind::Unary) && s->text != "not";
  return names_.infix((is_unary ? "unary " : "") + std::string(s->text));
}

void NameWalk::symbol(SyntaxPtr s) {
  const Origin op = context_ == Context::Value ? operator_of(s) : Origin{};
  if (op == Origin{}) return;
  note(s, {NameKind::Operator, op});
  if (records_) out_.back().symbol = true;
}

// Named arguments are the callee's attributes, with compile-time values, or the fields of a constructor.
void NameWalk::call(SyntaxPtr s) {
  SyntaxPtr callee = s->child(0);
  if (callee->is(SyntaxKind::Name) && context_ != Context::Value)
    for (SyntaxPtr argument : callee->children) type(argument);
  else
    visit(callee);
  const Callee called = context_ == Context::Value ? callee_of(callee) : Callee{};
  for (SyntaxPtr argument : s->children.subspan(1)) {
    if (!argument->is(SyntaxKind::NamedArgument)) {
      visit(argument);
      continue;
    }
    const auto named = std::ranges::find(called.parameters, argument->text, &Syntax::text);
    if (named != called.parameters.end() && !(*named)->is(SyntaxKind::TensorParam))
      note(argument, {called.kind, {called.declaration, (*named)->id}});
    const bool is_attribute = called.kind == NameKind::Attribute;
    visit_in(is_attribute ? Context::Static : context_, argument->child(0));
  }
}

// An operator call with a schedule refers to the loops and tensors of the definition.
std::vector<NameWalk::Bound> NameWalk::loops_of_callee(SyntaxPtr call) {
  std::vector<Bound> loops;
  while (call && call->is(SyntaxKind::Paren)) call = call->child(0);
  Origin op;
  if (call && call->is(SyntaxKind::Call) && call->child(0)->is(SyntaxKind::Name))
    op = names_.op(call->child(0)->text);
  if (call && (call->is(SyntaxKind::Binary) || call->is(SyntaxKind::Unary))) op = operator_of(call);
  if (op == Origin{}) return loops;
  for (SyntaxPtr binder : names_.binders(op)) {
    const NameKind kind = binder->is(SyntaxKind::TensorParam) ? NameKind::Variable : NameKind::Index;
    loops.push_back({binder->text, {kind, {op.declaration, binder->id}}});
  }
  return loops;
}

NameWalk::Callee NameWalk::callee_of(SyntaxPtr callee) {
  Origin declared;
  if (callee->is(SyntaxKind::GlobalName)) declared = names_.definition(callee->text);
  if (callee->is(SyntaxKind::Name) && !is_bound(callee->text, statics_)) {
    declared = names_.constructor(callee->text);
    if (declared == Origin{}) declared = names_.op(callee->text);
  }
  SyntaxPtr node = declared == Origin{} ? nullptr : names_.node(declared);
  if (!node) return {};
  if (node->is(SyntaxKind::Constructor)) return {NameKind::Field, declared.declaration, node->children};
  SyntaxPtr params = node->child(1);
  if (!params || !params->is(SyntaxKind::Params)) return {};
  return {NameKind::Attribute, declared.declaration, params->children};
}

// --- occurrences

bool NameWalk::is_bound(std::string_view name, const std::vector<Bound>& scope) {
  return std::ranges::find(scope, name, &Bound::name) != scope.end();
}

bool NameWalk::bound(SyntaxPtr s, const std::vector<Bound>& scope) {
  const auto found = std::ranges::find(scope.rbegin(), scope.rend(), s->text, &Bound::name);
  if (found == scope.rend()) return false;
  note(s, found->target);
  return true;
}

void NameWalk::declare(SyntaxPtr s, NameKind kind, std::vector<Bound>& scope) {
  declare(s, kind);
  scope.push_back({s->text, {kind, origin(s)}});
}

void NameWalk::note(SyntaxPtr s, NameTarget target, bool declares) {
  if (!records_) return;
  out_.push_back({s->id, target, {0, static_cast<uint32_t>(written_name(s).size())}, declares});
}

bool NameWalk::note_declared(SyntaxPtr s, NameKind kind, const Origin& declared) {
  if (declared == Origin{}) return false;
  note(s, {kind, declared});
  if (!records_ || written_name(s).find('.') == std::string_view::npos) return true;
  SyntaxPtr node = kind == NameKind::Variable ? nullptr : names_.node(declared);
  const size_t written = written_name(s).size(), own = node ? written_name(node).size() : written;
  if (own >= written) return true;
  // `m.f`: the declaration's name follows the module's.
  const auto module_size = static_cast<uint32_t>(written - own - 1);
  out_.back().part.begin = module_size + 1;
  const Origin module = names_.module(written_name(s).substr(0, module_size));
  if (module != Origin{}) out_.push_back({s->id, {NameKind::Module, module}, {0, module_size}});
  return true;
}

}  // namespace quern
