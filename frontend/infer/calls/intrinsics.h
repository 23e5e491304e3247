#pragma once
// `print`, `load`, `save`, `clock` and assertions.

#include <optional>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class Intrinsics : public WalkPart {
 public:
  Intrinsics(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr call(SyntaxPtr s, IntrinsicKind kind);
  DraftPtr clock(SyntaxPtr s);
  /// `assert_close(value, expected, rtol=1e-5, atol=1e-6)`, `assert_equal(value, expected)`
  DraftPtr assertion(SyntaxPtr s, bool close);

 private:
  bool add_tolerance(SyntaxPtr s, SyntaxPtr arg, bool close, double (&tolerances)[2]);
  bool attempt(SyntaxPtr value, SyntaxPtr expected, const AssertionDraft& draft);
};

}  // namespace quern
