#pragma once
// Which fusions an index expression permits (TVM, section 3), derived from the expression.

#include <string_view>

#include "ir/expr/expr.h"

namespace quern {

/// From the most to the least fusible.
enum class FusionClass : uint8_t {
  Injective,    ///< every element of the result reads elements, without a reduction
  Reduction,    ///< the body contains a reduction or a running reduction
  Contraction,  ///< a sum of products whose factors both depend on the summation variables
  Opaque,       ///< not an index expression of one element: a scatter, a kernel of its own, control flow
};
std::string_view to_string(FusionClass c);
/// Whether it contains a reduction, a running reduction or a scatter.
bool reduces(ExprPtr expr);
/// Whether it sums products of two factors or more that move along its index variables.
bool is_contraction(const ReduceExpr& reduce);

FusionClass fusion_class(const ComprehensionExpr& comprehension);
/// The class of a function's or composite operator's body: the greatest class of its parts.
FusionClass fusion_class(FunctionSource& functions, ExprPtr body);

}  // namespace quern
