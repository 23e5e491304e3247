#pragma once
// Calls: the callee's syntax decides the kind of call.

#include "frontend/infer/calls/function_calls.h"
#include "frontend/infer/calls/intrinsics.h"
#include "frontend/infer/calls/name_uses.h"
#include "frontend/infer/values/values.h"

namespace quern {

class Calls : public WalkPart {
 public:
  Calls(Parts& parts, Walk& walk, Values& values)
      : WalkPart(parts, walk),
        values_(values),
        functions_(parts, walk),
        intrinsics_(parts, walk),
        constructors_(parts, walk),
        operators_(parts, walk),
        unknown_(parts),
        name_uses_(parts, walk, values.literals, constructors_, operators_, unknown_) {}

  DraftPtr call(SyntaxPtr s, Type wanted);
  OperatorCalls& operators() { return operators_; }
  NameUses& names() { return name_uses_; }

 private:
  /// A call of a word of the language.
  DraftPtr of_word(SyntaxPtr s, CalledWord word, Type wanted);
  DraftPtr unknown_call(SyntaxPtr s);

  Values& values_;
  FunctionCalls functions_;
  Intrinsics intrinsics_;
  Constructors constructors_;
  OperatorCalls operators_;
  UnknownNames unknown_;
  NameUses name_uses_;
};

}  // namespace quern
