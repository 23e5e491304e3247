#pragma once
// The clause `lowering` of an op: the machine instruction that computes its index expression.

#include <optional>

#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"
#include "ir/expr/dot_intrinsic.h"

namespace quern {

/// The op's clause, or null.
SyntaxPtr lowering_clause(SyntaxPtr op);

/// The intrinsic that the clause declares. Nothing if the op's parameters or body have another form than `[i]
/// => %acc[i] + sum[r < n] %a[i, r] * %b[i, r]`, or `[i, j] => %acc[i, j] + sum[k < m, r < n] %a[i, k, r] *
/// %b[k, j, r]`, with numeric extents, which is reported, or if the op itself has errors.
std::optional<DotIntrinsic> dot_intrinsic_of(const Declaration& op, SyntaxPtr clause, Scope& scope,
                                             Diagnostics& diagnostics);

}  // namespace quern
