#pragma once
// `[i < n] => …` in ordinary code.

#include "frontend/infer/indices/extents.h"
#include "frontend/infer/walk/walk.h"

namespace quern {

class IndexExpressions : public WalkPart {
 public:
  IndexExpressions(Parts& parts, Walk& walk) : WalkPart(parts, walk), extents_(parts, walk) {}

  DraftPtr comprehension(SyntaxPtr s);

 private:
  bool are_known(const IndexDraft& draft);
  ExprPtr elaborate(SyntaxPtr s, IndexDraft& draft, const StaticEnv& statics, const WrittenExtents& extents);

  Extents extents_;
};

}  // namespace quern
