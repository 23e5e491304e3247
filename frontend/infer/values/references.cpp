#include "frontend/infer/values/references.h"

#include <fmt/format.h>

#include "frontend/infer/gradual/open_dims.h"

namespace quern {

DraftPtr References::make(SyntaxPtr s, SyntaxPtr content, Type wanted) {
  if (wanted) wanted = resolve(wanted);
  Type held = wanted && wanted->kind == TypeKind::Ref && leaves_dims_open(wanted) ? wanted->args[0] : nullptr;
  DraftPtr value = infer(content, held);
  // Later contents may have other extents than the first.
  if (held)
    assignments_.expect(content, held, value->type, "what the reference holds", {},
                        DiagnosticKind::TypeMismatch, value);
  return drafts_.form(origin(s), ref_type(held ? held : value->type), RefExpr{}, {value});
}

/// The content type of a reference; reports a value that is not one.
Type References::content_of(SyntaxPtr at, DraftPtr reference, std::string_view what) {
  Type content = unifier_.fresh_type();
  if (unifier_.unify(ref_type(content), reference->type)) return content;
  bool negation = what == "!" && resolve(reference->type)->is_scalar();
  report(DiagnosticKind::TypeMismatch, at,
         fmt::format("`{}` takes a reference, made by `ref(…)`, and this is {}{}", what,
                     unifier_.describe(reference->type), negation ? "; negation is written `not`" : ""),
         names_.origin_of(reference));
  return error_type();
}

DraftPtr References::read(SyntaxPtr s, SyntaxPtr operand) {
  DraftPtr reference = infer(operand);
  Type content = content_of(operand, reference, s->is(SyntaxKind::Unary) ? "!" : "ref_read");
  DraftPtr content_read = drafts_.form(origin(s), content, RefReadExpr{}, {reference});
  return checks_.opened(content_read, resolve(content), "ref");
}

DraftPtr References::write(SyntaxPtr s, SyntaxPtr operand, SyntaxPtr value) {
  DraftPtr reference = infer(operand);
  Type content = content_of(operand, reference, s->is(SyntaxKind::Binary) ? ":=" : "ref_write");
  DraftPtr written = infer(value, content);
  assignments_.expect(value, content, written->type, "what is written", names_.origin_of(reference),
                      DiagnosticKind::TypeMismatch, written);
  return drafts_.form(origin(s), unit_type(), RefWriteExpr{}, {reference, written});
}

/// Whether a call has `wanted` arguments; otherwise reports it.
bool References::takes(SyntaxPtr s, size_t wanted) {
  size_t given = s->children.size() - 1;
  if (given == wanted) return true;
  report(DiagnosticKind::WrongArgumentCount, s,
         fmt::format("`{}` takes {} argument{} and is given {}", s->child(0)->text, wanted,
                     wanted == 1 ? "" : "s", given));
  return false;
}

template <>
DraftPtr References::call<CalledWord::Ref>(SyntaxPtr s, Type wanted) {
  return takes(s, 1) ? make(s, s->child(1), wanted) : error(s);
}
template <>
DraftPtr References::call<CalledWord::RefRead>(SyntaxPtr s, Type) {
  return takes(s, 1) ? read(s, s->child(1)) : error(s);
}
template <>
DraftPtr References::call<CalledWord::RefWrite>(SyntaxPtr s, Type) {
  return takes(s, 2) ? write(s, s->child(1), s->child(2)) : error(s);
}

}  // namespace quern
