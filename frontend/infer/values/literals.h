#pragma once
// Numbers, tensors of numbers, and metadata constants.

#include <vector>

#include "frontend/infer/context/context.h"

namespace quern {

class Literals : public Component {
 public:
  explicit Literals(Context& context) : Component(context) {}

  DraftPtr number(SyntaxPtr s);
  DraftPtr boolean(SyntaxPtr s, bool value);
  /// A list of numbers, or of lists of them.
  DraftPtr tensor(SyntaxPtr s);
  /// `meta[relay.Constant][0]`
  DraftPtr constant(SyntaxPtr s);
  /// The value of a compile-time float or bool.
  DraftPtr value(SyntaxPtr s, const StaticValue& value);

 private:
  struct Elements {
    std::vector<LiteralDraft::Element> all;
    std::vector<int64_t> shape;
    bool is_bool = false;
  };
  bool collect(SyntaxPtr s, size_t depth, Elements& elements);
  bool collect_number(SyntaxPtr s, size_t depth, Elements& elements);
  std::optional<DType> dtype_of(const Elements& elements);
  DraftPtr make(SyntaxPtr s, Type type, const std::vector<LiteralDraft::Element>& elements, bool is_bool);
};

}  // namespace quern
