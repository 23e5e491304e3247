#include "session/texts/text_diagnostics.h"

#include <algorithm>
#include <iterator>

#include "frontend/index/schedule_clause.h"
#include "frontend/signature/check_form.h"

namespace quern {

namespace {

bool fits(SyntaxKind root, PieceKind piece) {
  switch (piece) {
    case PieceKind::Def: return root == SyntaxKind::Def;
    case PieceKind::Op: return root == SyntaxKind::Op || root == SyntaxKind::ExternOp;
    case PieceKind::Type:
      return root == SyntaxKind::TypeDecl || root == SyntaxKind::ExternType || root == SyntaxKind::TypeAlias;
    case PieceKind::Import: return root == SyntaxKind::Import || root == SyntaxKind::ImportAs;
    case PieceKind::Test: return root == SyntaxKind::Test;
    case PieceKind::Infix: return root == SyntaxKind::Infix;
    case PieceKind::Static: return root == SyntaxKind::Static;
    case PieceKind::Statement: return true;
  }
  return false;
}

}  // namespace

SyntaxPtr fitting(SyntaxPtr tree, TextKind kind) {
  static const Syntax broken{SyntaxKind::Error, 1};
  return (kind ? fits(tree->kind, *kind) : tree->is(SyntaxKind::Block)) ? tree : &broken;
}

TextDiagnostics diagnostics_of_text(SyntaxPtr tree, TextKind kind, uint32_t declaration) {
  TextDiagnostics found{check_duplicates(tree, declaration), {}};
  std::ranges::move(check_signature_form(tree, declaration), std::back_inserter(found.mistakes));
  std::ranges::move(check_schedules(tree, declaration), std::back_inserter(found.mistakes));
  if (kind) found.unused = check_unused(tree, declaration);
  return found;
}

}  // namespace quern
