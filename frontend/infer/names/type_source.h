#pragma once

#include "frontend/syntax/syntax.h"

namespace quern {

/// The node that determines the type of a variable bound by a Let, a GraphLet or a parameter: its annotation,
/// otherwise its value.
SyntaxPtr type_source(SyntaxPtr binding);

}  // namespace quern
