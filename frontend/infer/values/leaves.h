#pragma once
// `map_leaves(f, x, …)` and `fold_leaves(f, init, x, …)`: a function applied to every tensor of floating-point
// numbers inside of a value, expanded by the value's type.

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class Leaves : public WalkPart {
 public:
  Leaves(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// A call of one of these words.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  /// One call. The function is typed anew for each leaf, in the scope of the call.
  struct Use {
    SyntaxPtr at, function;
    std::vector<SyntaxPtr> texts;  ///< of the values
    std::vector<DraftPtr> values;  ///< which have one structure
    DraftPtr initial;              ///< of a fold; null for a map
    TypeEnv env;
    std::vector<LocalName> locals;
  };
  class Expansion;

  DraftPtr use(SyntaxPtr s, bool folds, Type wanted);
  bool attempt(const Use& use, DraftPtr waiting);
};

}  // namespace quern
