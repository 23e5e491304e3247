#pragma once
// What is reported of the text of a declaration by itself, without other declarations and types.

#include <cstdint>
#include <optional>

#include "frontend/parse/scanner.h"
#include "frontend/syntax/syntax.h"

namespace quern {

/// The kind of a text that has a tree of its own: of a piece, or none for a chunk of a body.
using TextKind = std::optional<PieceKind>;

/// The tree, or an error where it is not one of this kind: incomplete text may not be what the scanner took it for.
SyntaxPtr fitting(SyntaxPtr tree, TextKind kind);

/// The diagnostics of a tree by itself.
struct TextDiagnostics {
  Diagnostics mistakes;
  Diagnostics
      unused;  ///< warnings of variables that nothing reads; none of a chunk, which is a part of its body
  friend bool operator==(const TextDiagnostics&, const TextDiagnostics&) = default;
};
TextDiagnostics diagnostics_of_text(SyntaxPtr tree, TextKind kind, uint32_t declaration);

}  // namespace quern
