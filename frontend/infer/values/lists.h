#pragma once
// Lists in brackets: tensors of numbers, and tensors stacked from values, `[%x[0], %y]`.

#include "frontend/infer/values/literals.h"
#include "frontend/infer/values/tuples.h"

namespace quern {

class Lists : public WalkPart {
 public:
  Lists(Parts& parts, Walk& walk, Literals& literals, Tuples& tuples)
      : WalkPart(parts, walk), literals_(literals), tuples_(tuples) {}

  DraftPtr list(SyntaxPtr s);

 private:
  Literals& literals_;
  Tuples& tuples_;
};

}  // namespace quern
