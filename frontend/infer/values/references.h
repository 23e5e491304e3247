#pragma once
// `ref(e)`, `!e` and `e := e`.

#include <string_view>

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class References : public WalkPart {
 public:
  References(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr read(SyntaxPtr s, SyntaxPtr operand);
  DraftPtr write(SyntaxPtr s, SyntaxPtr operand, SyntaxPtr value);
  /// A call of one of these words.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  bool takes(SyntaxPtr call, size_t wanted);
  DraftPtr make(SyntaxPtr s, SyntaxPtr content, Type wanted);
  Type content_of(SyntaxPtr at, DraftPtr reference, std::string_view what);
};

}  // namespace quern
