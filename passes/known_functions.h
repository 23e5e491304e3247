#pragma once

#include <vector>

#include "passes/pass.h"

namespace quern {

/// An argument that the called definition derives.
struct UnknownFunction {
  Origin call;
  ExprPtr argument;
};

/// Makes known the functions that definitions derive and take as parameters. Where `@train(%f, %net)` has
/// `value_and_grad(%f)`, itself or by what it calls, `@train(@loss, %net)` becomes a call of a copy for `@loss`:
///
///     let %train = fn (%f, %net) { let %g = @loss; … value_and_grad(%g) … %train(%g, …) … };
///     %train(@loss, %net)
///
/// Of a definition that does not call itself the body alone stays. A function that only a run knows stays a
/// parameter, and is listed in `unknown`.
ExprPtr known_functions(const PassContext& context, ExprPtr expr,
                        std::vector<UnknownFunction>* unknown = nullptr);

/// Whether a definition is called with a function: what `known_functions` looks at.
bool passes_functions(ExprPtr expr);

}  // namespace quern
