#pragma once
// What can be wrong with a declaration whatever its types are.

#include "frontend/syntax/syntax.h"
#include "frontend/text/diagnostics.h"

namespace quern {

/// Parameters, fields and constructors that are declared twice in one declaration, or have the name of a
/// dtype.
Diagnostics check_duplicates(SyntaxPtr declaration, uint32_t id);

/// Parameters without the type that they need, and what stands in the wrong order: attributes before tensors,
/// an argument by position after one by name.
Diagnostics check_signature_form(SyntaxPtr declaration, uint32_t id);

/// Warnings: variables of inner `let`s that nothing reads. A name that begins with `_` is meant to be unread.
Diagnostics check_unused(SyntaxPtr declaration, uint32_t id);

}  // namespace quern
