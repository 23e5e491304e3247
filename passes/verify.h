#pragma once
// The invariants of the typed IR, as a function of an expression.

#include <optional>
#include <string>
#include <unordered_set>

#include "passes/pass.h"

namespace quern {

/// Whether QUERN_VERIFY=1 asks that what passes and lowering make is verified.
bool is_verifying();

/// What an expression takes from around it: variables and dims that nothing in it binds.
struct FreeNames {
  std::unordered_set<const Variable*> variables;
  std::unordered_set<Dim> dims;
};
FreeNames free_names(ExprPtr expr);

/// An invariant that a node breaks.
struct Breach {
  ExprPtr node;
  std::string reason;
};

/// The first breach in an expression, in time linear in its size:
///
/// - Variables, index variables and other dims, those in types too, stand inside of their binders; free ones
/// are
///   those of `given`. A primitive function has nothing from around it but dims.
/// - The type of a node is what its children give it. A `?` goes with every extent, and so does what one was
/// opened to.
///   After a check of dims that cannot hold nothing is asked of types.
/// - The numbers of parts that belong to each other (variables and extents, indices and `checked`, parameters
/// and
///   arguments) agree; indices are of dtype index, elements of rank 0.
/// - No part has an error.
std::optional<Breach> verify(ExprPtr expr, const FreeNames& given);

}  // namespace quern
