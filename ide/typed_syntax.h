#pragma once
// The typed program at a piece of syntax.

#include "ide/see_through.h"
#include "ir/expr/effects.h"
#include "session/session.h"

namespace quern::ide {

/// The declaration that a chunk belongs to, or the declaration itself.
DeclarationId whole_of(Session& session, DeclarationId declaration);

/// The typed body of a definition or a statement; null where it has errors or is typed only where it is used.
ExprPtr typed_body(Session& session, DeclarationId whole);

/// Whether a binding is that of a `let` or a graph variable with this value.
IsBinding is_binding_of(DeclarationId declaration, SyntaxPtr let, SyntaxPtr value);

/// The typed expression of a piece of syntax; null if it is not found.
ExprPtr expr_of(ExprPtr body, DeclarationId declaration, SyntaxPtr node);

/// The possible effects of evaluating a part of a body.
Effects effects_of(Session& session, ExprPtr body, ExprPtr part);

}  // namespace quern::ide
