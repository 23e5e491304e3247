#pragma once
// What a declaration says by itself, whatever others say and whatever its types are.

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
struct Form {
  Diagnostics mistakes;
  Diagnostics
      unused;  ///< warnings of variables that nothing reads; none of a chunk, which is a part of its body
  friend bool operator==(const Form&, const Form&) = default;
};
Form form_of(SyntaxPtr tree, TextKind kind, uint32_t declaration);

}  // namespace quern
