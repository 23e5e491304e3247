#pragma once
// Names in value position: variables, definitions, constructors, operators, and compile-time names.

#include "frontend/infer/calls/constructors.h"
#include "frontend/infer/calls/operator_calls.h"
#include "frontend/infer/calls/unknown_names.h"
#include "frontend/infer/values/literals.h"

namespace quern {

class NameUses : public WalkPart {
 public:
  NameUses(Parts& parts, Walk& walk, Literals& literals, Constructors& constructors, OperatorCalls& operators,
           UnknownNames& unknown)
      : WalkPart(parts, walk),
        literals_(literals),
        constructors_(constructors),
        operators_(operators),
        unknown_(unknown) {}

  DraftPtr local(SyntaxPtr s);
  DraftPtr global(SyntaxPtr s);
  DraftPtr bare(SyntaxPtr s, Type wanted = nullptr);

 private:
  /// A definition whose own errors are reported elsewhere.
  DraftPtr broken_elsewhere(SyntaxPtr s);

  Literals& literals_;
  Constructors& constructors_;
  OperatorCalls& operators_;
  UnknownNames& unknown_;
};

}  // namespace quern
