// Reports of mismatched values.

#include <fmt/format.h>

#include "frontend/infer/gradual/assignments.h"
#include "frontend/infer/gradual/open_dims.h"

namespace quern {

void Assignments::becomes(SyntaxPtr at, DraftPtr waiting, Type found) {
  uint32_t outer = std::exchange(context_.declaration, waiting->origin.declaration);
  expect(at, waiting->type, found, "the value here", {}, DiagnosticKind::TypeMismatch, waiting);
  context_.declaration = outer;
}

bool Assignments::expect(SyntaxPtr at, Type wanted, Type found, const std::string& what,
                         std::vector<Note> notes, DiagnosticKind role, DraftPtr draft) {
  Origin source = !notes.empty() && notes[0].place ? notes[0].place->origin : Origin{};
  CheckSite outer = std::exchange(checks_.site, {draft, origin(at), source, [what] { return what; }});
  ProgramPoint outer_point = checks_.point();
  checks_.compare_here();
  bool fits = assign(wanted, found);
  checks_.compare_at(outer_point);
  checks_.site = std::move(outer);
  if (fits) return true;
  if (unifier_.infinite())
    report(DiagnosticKind::InfiniteType, at, fmt::format("{} would have a type that contains itself", what),
           std::move(notes));
  else
    report_mismatch(at, resolve(wanted), resolve(found), what, std::move(notes), role);
  return false;
}

void Assignments::report_mismatch(SyntaxPtr at, Type w, Type f, const std::string& what,
                                  std::vector<Note> notes, DiagnosticKind role) {
  DiagnosticKind kind = role;
  std::string detail;
  bool whole = role == DiagnosticKind::ConditionNotBool || role == DiagnosticKind::ArmsDiffer;
  bool comparable = !f->is_tensor() || !f->dtype.is_vector();
  if (role == DiagnosticKind::ConditionNotBool && comparable)
    detail = f->is_tensor() && f->dtype.is_bool() ? "; one bool is wanted, as in `any(%x)` or `all(%x)`"
                                                  : "; compare it, as in `%x != 0`";
  if (!whole && w->is_tensor() && f->is_tensor()) {
    kind = w->dims.size() != f->dims.size() ? DiagnosticKind::RankMismatch : DiagnosticKind::DTypeMismatch;
    for (size_t i = 0; kind == DiagnosticKind::DTypeMismatch && i < w->dims.size(); ++i)
      if (!unifier_.unify(w->dims[i], f->dims[i])) {
        kind = DiagnosticKind::DimMismatch;
        detail = fmt::format(": dimension {} is {} here and has to be {}", i, to_string(f->dims[i]),
                             to_string(w->dims[i]));
      }
  }
  if (w->kind == TypeKind::Ref && f->kind == TypeKind::Ref && leaves_dims_open(w) != leaves_dims_open(f))
    notes.push_back({std::nullopt,
                     "what is read through a reference may have been written through another: their "
                     "types have to be the same, as written where the reference is made"});
  if (w->kind == TypeKind::Data && w->name == "List" && f->is_tensor() && at->is(SyntaxKind::List))
    detail = "; `[…]` is a tensor, and a list is `Cons(%a, Cons(%b, Nil))`";
  if (detail.empty() && unifier_.describe(w) == unifier_.describe(f))
    detail = " of another declaration of that name: make the value anew";
  report(kind, at,
         fmt::format("{} has to be {}, but this is {}{}", what, unifier_.describe(w), unifier_.describe(f),
                     detail),
         std::move(notes));
}

}  // namespace quern
