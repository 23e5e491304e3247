#pragma once
// The invariants of the typed IR, as a function of an expression.

#include <optional>
#include <string>
#include <unordered_set>

#include "passes/pass.h"

namespace quern {

/// Whether QUERN_VERIFY=1 requests verification after passes and lowering.
bool is_verifying();

/// The free variables and dims of an expression.
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
/// - Variables, index variables and other dims, including those in types, are in the scope of their binders;
///   free ones are in `given`. A primitive function has only dims free.
/// - A node has the type that its children determine. A `?`, and a dim that one was opened to, matches every
///   extent. After a check of dims that cannot hold, types are not checked.
/// - Related parts agree in number (variables and extents, indices and `checked`, parameters and arguments);
///   indices are of dtype index, elements of rank 0.
/// - No part has an error.
std::optional<Breach> verify(ExprPtr expr, const FreeNames& given);

}  // namespace quern
