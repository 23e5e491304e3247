#pragma once
// What may be fused with an index expression (TVM, section 3): read off the expression.

#include <string_view>

#include "ir/expr/expr.h"

namespace quern {

/// From what is fused with most to what is fused with nothing.
enum class FusionClass : uint8_t {
  Injective,    ///< every element of the result reads elements, without a reduction
  Reduction,    ///< a reduction or a running reduction stands in the body
  Contraction,  ///< a sum of products of elements that both depend on what is summed over
  Opaque,       ///< no index expression of one element: a scatter, a kernel of its own, control flow
};
std::string_view to_string(FusionClass c);

FusionClass fusion_class(const ComprehensionExpr& comprehension);
/// Of a function's body or a composite operator's: the last of the classes of its parts.
FusionClass fusion_class(FunctionSource& functions, ExprPtr body);

}  // namespace quern
