// Names of declarations: their own, those of their parameters and clauses, and the loops of schedules.

#include <algorithm>
#include <cctype>

#include "frontend/names/name_walk.h"
#include "frontend/names/scope_guard.h"

namespace quern {

Occurrences resolve_names(const Declaration& declaration, const Declaration* head, DeclaredNames& names) {
  NameWalk walk(declaration.id, names);
  if (head) walk.enter_body_of(*head);
  walk.declaration(declaration.syntax);
  return walk.take();
}

void NameWalk::enter_body_of(const Declaration& head) {
  const uint32_t chunk = std::exchange(declaration_, head.id);
  records_ = false;
  type_params(head.syntax->child(0));
  params(head.syntax->child(1));
  records_ = true;
  declaration_ = chunk;
}

Occurrences NameWalk::take() {
  std::ranges::stable_sort(out_, {}, &Occurrence::node);
  return std::move(out_);
}

void NameWalk::declaration(SyntaxPtr root) {
  switch (root->kind) {
    case SyntaxKind::Def:
      declare(root, root->text.starts_with("@") ? NameKind::Definition : NameKind::Operator);
      return function(root, Context::Value);
    case SyntaxKind::Op:
    case SyntaxKind::ExternOp: declare(root, NameKind::Operator); return function(root, Context::Index);
    case SyntaxKind::TypeDecl:
    case SyntaxKind::ExternType: return type_declaration(root);
    case SyntaxKind::TypeAlias:
      declare(root, NameKind::Type);
      type_params(root->child(0));
      return type(root->child(1));
    case SyntaxKind::Static:
      declare(root, NameKind::Static);
      return with_params(root->child(0), root->child(1), Context::Static);
    case SyntaxKind::ImportAs: return declare(root->child(0), NameKind::Module);
    case SyntaxKind::Infix:
      note_declared(root->child(0), NameKind::Operator, names_.op(root->child(0)->text));
      return;
    case SyntaxKind::Block:
      // A chunk: its bindings are in scope to its end.
      return visit_all(root->children);
    default: return visit(root);
  }
}

// A result type may use names defined by `static` clauses.
void NameWalk::function(SyntaxPtr root, Context body) {
  type_params(root->child(0));
  params(root->child(1));
  clauses(root->child(3));
  type(root->child(2));
  bodies(root->child(4), body);
  for (SyntaxPtr clause : root->child(3) ? root->child(3)->children : std::span<const SyntaxPtr>())
    if (clause->is(SyntaxKind::Schedule)) schedule(clause, indices_);
}

void NameWalk::type_params(SyntaxPtr list) {
  if (!list) return;
  for (SyntaxPtr p : list->children) declare(p, NameKind::TypeParameter, statics_);
}

void NameWalk::params(SyntaxPtr list) {
  if (!list) return;
  // Tensor types may use attributes, which come after them.
  for (SyntaxPtr p : list->children)
    if (p->is(SyntaxKind::AttributeParam) && !is_function_attribute(p))
      declare(p, NameKind::Attribute, statics_);
  for (SyntaxPtr p : list->children) {
    if (p->is(SyntaxKind::AttributeParam)) {
      if (p->child(1)) visit_in(Context::Static, p->child(1));
    } else {
      const bool outer = std::exchange(declares_dims_, true);
      type(p->child(0));
      declares_dims_ = outer;
      declare(p, NameKind::Variable, variables_);
    }
  }
}

void NameWalk::with_params(SyntaxPtr list, SyntaxPtr body, Context context) {
  NameScope variables(variables_), statics(statics_);
  params(list);
  visit_in(context, body);
}

void NameWalk::clauses(SyntaxPtr list) {
  if (!list) return;
  for (SyntaxPtr clause : list->children) {
    switch (clause->kind) {
      case SyntaxKind::Where:
      case SyntaxKind::WarnClause: visit_in(Context::Static, clause->child(0)); break;
      case SyntaxKind::StaticClause:
        visit_in(Context::Static, clause->child(0));
        declare(clause, NameKind::Constant, statics_);
        break;
      case SyntaxKind::Gradient: with_params(clause->child(0), clause->child(1), Context::Value); break;
      case SyntaxKind::ShapeClause: with_params(clause->child(0), clause->child(1), Context::Static); break;
      default: break;
    }
  }
}

void NameWalk::bodies(SyntaxPtr list, Context body) {
  if (!list) return;
  for (SyntaxPtr when : list->children) {
    if (when->child(0)) visit_in(Context::Static, when->child(0));
    visit_in(body, when->child(1));
  }
}

void NameWalk::type_declaration(SyntaxPtr root) {
  declare(root, NameKind::Type);
  type_params(root->child(0));
  for (SyntaxPtr constructor : root->children.subspan(std::min<size_t>(1, root->children.size()))) {
    if (!constructor->is(SyntaxKind::Constructor)) continue;
    declare(constructor, NameKind::Constructor);
    for (SyntaxPtr field : constructor->children) {
      if (!field->text.empty()) declare(field, NameKind::Field);
      type(field->child(0));
    }
  }
}

// --- schedules

// Loops in steps are the expression's indices and those made by earlier steps; tensors have no sigil there.
void NameWalk::schedule(SyntaxPtr clause, std::vector<Bound> loops) {
  for (SyntaxPtr step : clause->children) {
    if (!step->is(SyntaxKind::ScheduleStep)) continue;
    for (SyntaxPtr group : step->children.subspan(std::min<size_t>(2, step->children.size())))
      for (SyntaxPtr argument : group->children) {
        if (argument->is(SyntaxKind::Name)) loop(argument, loops) || bound(argument, variables_);
        if (argument->is(SyntaxKind::Local)) bound(argument, variables_);
      }
    for (SyntaxPtr made : step->child(0) ? step->child(0)->children : std::span<const SyntaxPtr>())
      declare(made, NameKind::Loop, loops);
  }
}

bool NameWalk::loop(SyntaxPtr name, const std::vector<Bound>& loops) {
  auto is_of_pack = [&](const Bound& b) {
    return name->text.size() > b.name.size() && name->text.starts_with(b.name) &&
           std::ranges::all_of(name->text.substr(b.name.size()),
                               [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  };
  auto found = std::ranges::find(loops.rbegin(), loops.rend(), name->text, &Bound::name);
  if (found == loops.rend()) found = std::ranges::find_if(loops.rbegin(), loops.rend(), is_of_pack);
  if (found == loops.rend()) return false;
  note(name, found->target);
  if (records_) out_.back().part.end = static_cast<uint32_t>(found->name.size());
  return true;
}

}  // namespace quern
