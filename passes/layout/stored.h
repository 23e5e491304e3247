#pragma once
// Tensors in other layouts, and functions that take and give them so: index expressions, rewritten.

#include "passes/layout/layout.h"
#include "passes/pass.h"
#include "passes/scalar_builder.h"

namespace quern {

/// The tensor as it is in memory: an index expression; 0 where a layout puts padding. The layout has to fit
/// the tensor's shape (stored_shape).
ExprPtr stored(const ScalarBuilder& build, ExprPtr tensor, const Layout& layout);
/// The tensor of the shape given whose memory this is.
ExprPtr restored(const ScalarBuilder& build, ExprPtr memory, const Layout& layout,
                 std::span<const Dim> shape);

/// The function, without operator calls and over known dims, with parameter `k` given as it is stored: its
/// reads are of places of the memory. Fails where the layout does not fit.
Result<const FnExpr*> with_param_stored(const PassContext& context, const FnExpr& function, size_t k,
                                        const Layout& layout);
/// The function with its result, or field `k` of its result where that is a tuple, as it is stored.
Result<const FnExpr*> with_result_stored(const PassContext& context, const FnExpr& function, size_t k,
                                         const Layout& layout);

/// store_at: one tensor in the memory of another, of one more dimension: at the end of the host's axis stands
/// the guest.
ExprPtr stored_at(const ScalarBuilder& build, ExprPtr host, ExprPtr guest, size_t axis);
/// The guest that stands at the end of the axis, and the host without it.
ExprPtr guest_of(const ScalarBuilder& build, ExprPtr memory, size_t axis);
ExprPtr host_of(const ScalarBuilder& build, ExprPtr memory, size_t axis);
/// The function with the parameter `guest` in the memory of the parameter `host`: it takes that in the host's
/// place and the guest no more.
Result<const FnExpr*> with_param_stored_at(const PassContext& context, const FnExpr& function, size_t guest,
                                           size_t host, size_t axis);

}  // namespace quern
