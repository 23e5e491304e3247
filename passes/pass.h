#pragma once
// What passes share: a pass is a function from a typed expression to an equivalent one, its nodes in the
// arena given.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr.h"

namespace quern {

/// What a pass may ask for.
struct PassContext {
  Arena& arena;               ///< of the nodes it makes
  FunctionSource& functions;  ///< typed definitions of the globals
};

/// Whether evaluating it again costs nothing: a variable, or a rank-0 constant. A vector
/// whose lanes differ is none: it is read from memory.
bool is_atom(ExprPtr expr);

}  // namespace quern
