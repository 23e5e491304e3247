#pragma once
// `ref(e)`, `!e` and `e := e`.

#include <string_view>

#include "frontend/infer/walk/walk.h"

namespace quern {

class References : public WalkPart {
 public:
  References(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr read(SyntaxPtr s, SyntaxPtr operand);
  DraftPtr write(SyntaxPtr s, SyntaxPtr operand, SyntaxPtr value);
  /// `ref(…)`, `ref_read(…)` and `ref_write(…)`
  DraftPtr call(SyntaxPtr s, Type expected);

 private:
  DraftPtr make(SyntaxPtr s, SyntaxPtr content, Type wanted);
  Type content_of(SyntaxPtr at, DraftPtr reference, std::string_view what);
};

}  // namespace quern
