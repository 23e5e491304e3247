#pragma once
// `grad(f)` and the like.

#include <string>
#include <vector>

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class Derivatives : public WalkPart {
 public:
  Derivatives(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// A call of one of these words.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  DraftPtr of_argument(SyntaxPtr s, IntrinsicKind kind, Type wanted);
  DraftPtr of_function(SyntaxPtr s, IntrinsicKind kind);
  bool attempt(SyntaxPtr s, DerivativeDraft& draft);
  bool fail(SyntaxPtr s, DerivativeDraft& draft, std::string message, std::vector<Fix> fixes = {});
  bool give_up(DerivativeDraft& draft);
  std::vector<Fix> sum_of(SyntaxPtr function, size_t arity);
};

}  // namespace quern
