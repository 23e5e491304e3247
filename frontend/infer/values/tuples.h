#pragma once
// Tuples, including generated fields and spreads: `(e for k < n)`, `(..%xs, %y)`, `len(%xs)`.

#include <vector>

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class Tuples : public WalkPart {
 public:
  Tuples(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr tuple(SyntaxPtr s, Type wanted);
  /// A call of one of these words.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  bool add_fields(SyntaxPtr s, std::vector<DraftPtr>& fields, Type wanted);
  bool add_generated(SyntaxPtr s, std::vector<DraftPtr>& fields);
  bool add_spread(SyntaxPtr s, std::vector<DraftPtr>& fields);
};

}  // namespace quern
