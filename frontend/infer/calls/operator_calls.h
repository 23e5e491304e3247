#pragma once
// Calls of operators as written: separates tensor arguments from attributes.

#include <vector>

#include "frontend/infer/indices/extents.h"

namespace quern {

class OperatorCalls : public WalkPart {
 public:
  OperatorCalls(Parts& parts, Walk& walk) : WalkPart(parts, walk), extents_(parts, walk) {}

  /// `call` has its arguments after its callee.
  DraftPtr call(SyntaxPtr call, const Declaration& op);
  /// A call by an operator's symbol: all operands are positional.
  DraftPtr infix(SyntaxPtr s, const Declaration& op);
  /// An operator in value position is the function of its tensors: `relu` is `fn (%data) { relu(%data) }`.
  DraftPtr value(SyntaxPtr s, const Declaration& op);

 private:
  DraftPtr call(SyntaxPtr s, const Declaration& op, const std::vector<SyntaxPtr>& positional,
                const std::vector<SyntaxPtr>& named);
  void open_extents(const Declaration& op, const std::vector<SyntaxPtr>& positional,
                    const std::vector<SyntaxPtr>& named, ComputedExtents& extents);
  bool add_attribute(std::string name, SyntaxPtr value, SyntaxPtr at, Statics& statics,
                     OperatorCallDraft& call);
  /// The argument `first` is a tensor in an attribute position.
  DraftPtr too_many_tensors(size_t first, const std::vector<SyntaxPtr>& arguments, const Declaration& op);

  Extents extents_;
};

}  // namespace quern
