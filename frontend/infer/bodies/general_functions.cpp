// `let %f = fn …`: a function literal sees its own name monomorphically; after its statement the name is
// polymorphic.

#include <fmt/format.h>

#include "frontend/infer/bodies/functions.h"

namespace quern {

Functions::Bound Functions::let_function(SyntaxPtr s) {
  size_t depth = names_.depth();
  const GeneralMark from = parts_.general.mark();
  unifier_.enter_level();
  SyntaxPtr written = annotation_of(s), literal = literal_of(s);
  Type declared = written ? names_.annotation(written) : nullptr;
  Type own = declared ? declared : unifier_.fresh_type();
  Variable* self = drafts_.variable(s->text, own, s->is(SyntaxKind::GraphLet));
  names_.bind(self->name, self, s);
  Head head = parts_.heads.of_literal(literal, Binder::General);
  DraftPtr fn = function(literal, literal->child(1), head, literal->child(3));
  context_.node_types.note(origin(literal), fn->type);
  bool fits = declared ? assignments_.expect(literal, declared, fn->type, fmt::format("`%{}`", s->text),
                                             {{place(written), "it is declared here"}})
                       : unifier_.unify(own, fn->type);
  relations_.run();
  unifier_.leave_level();
  names_.leave_to(depth);
  if (fits && resolve(fn->type)->kind == TypeKind::Function) make_general(s, self, fn, head, from);
  names_.bind(self->name, self, s);
  return {self, fn};
}

void Functions::make_general(SyntaxPtr s, Variable* self, DraftPtr fn, const Head& head,
                             const GeneralMark& from) {
  Scheme scheme = parts_.general.generalise(from, {fn->type}, {Scheme{head.dim_vars, head.type_vars}},
                                            General::Dims::Shown)[0];
  bind_dims_of(fn, scheme, drafts_);
  // Its packs are determined at each use.
  scheme.specialised |= head.env.open_packs != names_.env.open_packs;
  self->type = scheme.type;
  parts_.heads.check_written_dtypes(literal_of(s), head);
  if (scheme.specialised && context_.error_count() == from.errors) parts_.copies.keep(s, self);
  if (scheme.is_general() || scheme.specialised) parts_.general.schemes.emplace(self, std::move(scheme));
}

TypedLiteral Functions::copy_of(SyntaxPtr let, Variable* self, const std::vector<Type>& given) {
  SyntaxPtr literal = literal_of(let);
  Head head = parts_.heads.of_literal(literal, Binder::Copy, &given);
  // A type at the copy's own level: the copy's generalised unknowns do not belong to the enclosing function.
  self->type = function_type(head.params, head.result);
  if (SyntaxPtr written = annotation_of(let)) unifier_.unify(self->type, names_.annotation(written));
  names_.bind(self->name, self, let);
  return {function(literal, literal->child(1), head, literal->child(3)), head.dim_vars};
}

DraftPtr Functions::statement(SyntaxPtr s, Scheme& scheme) {
  auto [self, fn] = let_function(s);
  const auto& schemes = parts_.general.schemes;
  if (auto general = schemes.find(self); general != schemes.end()) scheme = general->second;
  const DraftBinding bindings[] = {{self, fn}};
  return drafts_.block(origin(s), bindings, drafts_.read(origin(s), self, fn->type));
}

}  // namespace quern
