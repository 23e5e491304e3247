#pragma once
// Tuples, also those whose fields are counted out: `(e for k < n)`, `(..%xs, %y)`, `len(%xs)`.

#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class Tuples : public WalkPart {
 public:
  Tuples(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr tuple(SyntaxPtr s, Type wanted);
  /// `len(%xs)`: the number of fields of a tuple, as an index.
  DraftPtr length(SyntaxPtr s);
  /// `index(e)`: what `e` is at compile time, as a value.
  DraftPtr index_value(SyntaxPtr s);

 private:
  bool add_fields(SyntaxPtr s, std::vector<DraftPtr>& fields, Type wanted);
  bool add_generated(SyntaxPtr s, std::vector<DraftPtr>& fields);
  bool add_spread(SyntaxPtr s, std::vector<DraftPtr>& fields);
};

}  // namespace quern
