#pragma once
// `specialize(f, a, …)`: a function whose first arguments are known.

#include <vector>

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class PartialApplication : public WalkPart {
 public:
  PartialApplication(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// A call of the word.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  struct Use {
    SyntaxPtr at;
    DraftPtr function;
    std::vector<DraftPtr> known;
    DraftPtr waiting;  ///< stands for the whole
  };
  /// Once the function's parameters are known.
  bool attempt(const Use& use);
  DraftPtr applied(const Use& use, Type function);
};

}  // namespace quern
