#pragma once

#include "frontend/syntax/syntax.h"

namespace quern {

/// The node that says the type of what a Let, a GraphLet or a parameter binds: its annotation, else its
/// value.
SyntaxPtr type_source(SyntaxPtr binding);

}  // namespace quern
