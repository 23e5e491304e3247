#include "frontend/infer/bodies/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/context/gradient_types.h"
#include "frontend/infer/gradual/open_dims.h"

namespace quern {

Functions::Functions(Parts& parts, Walk& walk) : WalkPart(parts, walk) {
  parts.copies.type_literal = [this](SyntaxPtr let, Variable* self, const std::vector<Type>& given) {
    return copy_of(let, self, given);
  };
}

SyntaxPtr last_statement(SyntaxPtr block) {
  while (block->is(SyntaxKind::Block) && !block->children.empty()) block = block->children.back();
  return block;
}

DraftPtr Functions::literal(SyntaxPtr s) {
  Head head = parts_.heads.of_literal(s, Binder::Once);
  return function(s, s->child(1), head, s->child(3));
}

DraftPtr Functions::function(SyntaxPtr at, SyntaxPtr params, const Head& head, SyntaxPtr body,
                             const Declaration* chunked) {
  size_t depth = names_.depth();
  TypeEnv outer = std::exchange(names_.env, head.env);
  std::vector<FnAttribute> attributes;
  std::vector<const Variable*> variables = parts_.heads.bind_params(params, head, attributes);
  if (chunked && chunked->chunks.empty()) chunked = nullptr;
  uint32_t around = checks_.enter_region(), region = checks_.region();
  DraftPtr result = chunked ? walk_.infer_chunks(*chunked, head.result) : infer(body, head.result);
  expect_result(at, head, body, chunked, result, region);
  checks_.leave_region(around);
  if (chunked) context_.declaration = chunked->id;
  if (SyntaxPtr clause = gradient_clause_of(at))
    result = with_gradient(clause, variables, result, head.result);
  names_.env = std::move(outer);
  names_.leave_to(depth);
  return drafts_.form(origin(at), function_type(head.params, head.result),
                      FnExpr{.params = drafts_.copy(variables),
                             .dim_vars = drafts_.copy(head.dim_vars),
                             .attributes = drafts_.copy(attributes)},
                      {result});
}

void Functions::expect_result(SyntaxPtr at, const Head& head, SyntaxPtr body, const Declaration* chunked,
                              DraftPtr result, uint32_t region) {
  std::vector<Note> declared;
  if (SyntaxPtr annotated = at->child(2); annotated && (at->is(SyntaxKind::Def) || at->is(SyntaxKind::Fn)))
    declared.push_back({place(annotated), "the result type is declared here"});
  SyntaxPtr result_at = last_statement(body ? body : at);
  if (chunked) {
    context_.declaration = chunked->chunks.back()->id;
    result_at = last_statement(chunked->chunks.back()->syntax);
  }
  // Dims opened inside have no meaning outside: an inferred result has `?` for them.
  bool inferred = resolve(head.result)->kind == TypeKind::Infer;
  std::string what = at->is(SyntaxKind::Gradient) ? "the gradient that the clause gives" : "the result";
  assignments_.expect(result_at, head.result, inferred ? checks_.closed(result->type, region) : result->type,
                      what, std::move(declared), DiagnosticKind::ResultMismatch, result);
}

DraftPtr Functions::gradient_clause(SyntaxPtr s, Type wanted) {
  size_t arity = s->child(0)->children.size();
  bool tensors =
      std::ranges::all_of(s->child(0)->children, [](SyntaxPtr p) { return p->is(SyntaxKind::TensorParam); });
  if (!tensors || arity < 1 || arity > 2) {
    report(DiagnosticKind::WrongArgumentCount, s->child(0),
           "a `gradient` clause takes the gradient of the result, and the result where it is needed: "
           "`gradient (%g, %y) { … }`");
    return error(s);
  }
  std::vector<Type> given;
  std::vector<Dim> opened;
  for (size_t k = 0; k < arity; ++k)
    given.push_back(open_any(resolve(wanted->params()[k]), s->child(0)->child(k)->text, &opened));
  Head head = parts_.heads.of(nullptr, s->child(0), nullptr, names_.env, Binder::Once, &given);
  head.dim_vars.insert(head.dim_vars.end(), opened.begin(), opened.end());
  head.result = wanted->result();
  return function(s, s->child(0), head, s->child(1));
}

DraftPtr Functions::gradient_of_op(SyntaxPtr clause, SyntaxPtr params, const Head& head) {
  names_.env = head.env;
  std::vector<FnAttribute> none;
  std::vector<const Variable*> variables = parts_.heads.bind_params(params, head, none);
  size_t arity = std::min<size_t>(clause->child(0)->children.size(), 2);
  DraftPtr closure = infer(clause, gradient_clause_type(head.params, head.result, arity));
  return drafts_.form(origin(clause), function_type(head.params, closure->type),
                      FnExpr{.params = drafts_.copy(variables)}, {closure});
}

DraftPtr Functions::with_gradient(SyntaxPtr clause, const std::vector<const Variable*>& params,
                                  DraftPtr value, Type type) {
  std::vector<Type> types;
  std::vector<DraftPtr> parts{value, nullptr};
  for (const Variable* param : params) {
    types.push_back(resolve(param->type));
    parts.push_back(drafts_.read(origin(clause), param, param->type));
  }
  size_t arity = clause->child(0)->children.size();
  parts[1] = infer(clause, gradient_clause_type(types, resolve(type), std::min<size_t>(arity, 2)));
  if (parts[1]->kind == DraftKind::Error) return parts[1];
  return drafts_.form(value->origin, value->type, IntrinsicExpr{.intrinsic = IntrinsicKind::WithGradient},
                      parts);
}

}  // namespace quern
