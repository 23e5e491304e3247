#pragma once
// The clause `lowering` of an op: which instruction of the machine does what its index expression says.

#include <optional>

#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"
#include "ir/expr/dot_intrinsic.h"

namespace quern {

/// The op's clause, or null.
SyntaxPtr lowering_clause(SyntaxPtr op);

/// The intrinsic that the clause declares. Nothing where the op's parameters or body are of another form than
/// `[i] => %acc[i] + sum[r < n] %a[i, r] * %b[i, r]`, or `[i, j] => %acc[i, j] + sum[k < m, r < n] %a[i, k,
/// r] * %b[k, j, r]`, with numbers for extents, which is reported, or where the op has errors of its own.
std::optional<DotIntrinsic> dot_intrinsic_of(const Declaration& op, SyntaxPtr clause, Scope& scope,
                                             Diagnostics& diagnostics);

}  // namespace quern
