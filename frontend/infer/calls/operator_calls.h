#pragma once
// Calls of operators as they are written: which arguments are tensors, and which are attributes.

#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class OperatorCalls : public WalkPart {
 public:
  OperatorCalls(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// `call` has the arguments behind its callee.
  DraftPtr call(SyntaxPtr call, const Declaration& op);
  /// A call with an operator's symbol: all operands are by position.
  DraftPtr infix(SyntaxPtr s, const Declaration& op);
  /// An operator where a value is wanted is the function of its tensors: `relu` is
  /// `fn (%data) { relu(%data) }`.
  DraftPtr value(SyntaxPtr s, const Declaration& op);

 private:
  DraftPtr call(SyntaxPtr s, const Declaration& op, const std::vector<SyntaxPtr>& positional,
                const std::vector<SyntaxPtr>& named);
  bool add_attribute(std::string name, SyntaxPtr value, SyntaxPtr at, Statics& statics,
                     OperatorCallDraft& call);
  /// The argument `first` is a tensor where the operator has attributes.
  DraftPtr too_many_tensors(size_t first, const std::vector<SyntaxPtr>& arguments, const Declaration& op);
};

}  // namespace quern
