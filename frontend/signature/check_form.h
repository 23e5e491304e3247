#pragma once
// Checks of a declaration that do not depend on types.

#include "frontend/syntax/syntax.h"
#include "frontend/text/diagnostics.h"

namespace quern {

/// Parameters, fields and constructors declared twice in one declaration, or named like a dtype.
Diagnostics check_duplicates(SyntaxPtr declaration, uint32_t id);

/// Parameters without a required type, and wrong order: attributes before tensors, a positional argument
/// after a named one.
Diagnostics check_signature_form(SyntaxPtr declaration, uint32_t id);

/// Warnings: variables of inner `let`s that nothing reads. A name that begins with `_` is intentionally
/// unread.
Diagnostics check_unused(SyntaxPtr declaration, uint32_t id);

}  // namespace quern
