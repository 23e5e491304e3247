#pragma once
// Tensors in other layouts, and functions that take and return them, by rewriting index expressions.

#include "passes/layout/layout.h"
#include "passes/pass.h"
#include "passes/scalar_builder.h"

namespace quern {

/// The tensor as stored in memory, as an index expression; 0 in padding. The layout must fit the tensor's
/// shape (stored_shape).
ExprPtr stored(const ScalarBuilder& build, ExprPtr tensor, const Layout& layout);
/// The tensor of the given shape that is stored in this memory.
ExprPtr restored(const ScalarBuilder& build, ExprPtr memory, const Layout& layout,
                 std::span<const Dim> shape);

/// The function, without operator calls and over known dims, with parameter `k` passed in its stored layout:
/// its reads address memory locations. Fails if the layout does not fit.
Result<const FnExpr*> with_param_stored(const PassContext& context, const FnExpr& function, size_t k,
                                        const Layout& layout);
/// The function with its result, or field `k` of a tuple result, in its stored layout.
Result<const FnExpr*> with_result_stored(const PassContext& context, const FnExpr& function, size_t k,
                                         const Layout& layout);

/// store_at: stores one tensor in the memory of another with one more dimension, at the end of the host's
/// axis.
ExprPtr stored_at(const ScalarBuilder& build, ExprPtr host, ExprPtr guest, size_t axis);
/// The guest at the end of the axis, and the host without it.
ExprPtr guest_of(const ScalarBuilder& build, ExprPtr memory, size_t axis);
ExprPtr host_of(const ScalarBuilder& build, ExprPtr memory, size_t axis);
/// The function with the parameter `guest` in the memory of the parameter `host`: it takes this memory
/// instead of the host, and no guest.
Result<const FnExpr*> with_param_stored_at(const PassContext& context, const FnExpr& function, size_t guest,
                                           size_t host, size_t axis);

}  // namespace quern
