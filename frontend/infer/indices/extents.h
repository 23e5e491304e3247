#pragma once
// Integers that the program computes, where an extent is wanted: `zeros((%k,))`, `%x[%k:]`, `[i < %k] => …`. Each
// becomes a dim that is known when the program runs, printed as it is written; outside of its function it is `?`.

#include <optional>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

/// The extents of one expression, and what computes them.
struct ComputedExtents : WrittenExtents {
  std::vector<DraftBinding> bindings;
};

class Extents : public WalkPart {
 public:
  Extents(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// Opens the operands in an expression for extents.
  void open(SyntaxPtr syntax, ComputedExtents& extents);
  /// The value, after what computes its extents.
  DraftPtr bound(SyntaxPtr s, const ComputedExtents& extents, DraftPtr value);

 private:
  std::optional<Dim> opened(SyntaxPtr operand, ComputedExtents& extents);
};

}  // namespace quern
