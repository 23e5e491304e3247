#pragma once
// What an inference gives.

#include <memory>
#include <vector>

#include "frontend/signature/signature.h"
#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"
#include "ir/expr/expr.h"

namespace quern {

/// A call of an operator whose definition is asked for late.
struct LateCall {
  std::shared_ptr<const OpInstance> instance;
  Place place;
};

/// A definition at the types that a use gives its parameters, and the use.
struct Specialisation {
  InstanceRequest request;
  Place use;
};

/// What inference finds out about one declaration.
struct Inferred {
  Definition definition;    ///< body null where there were errors
  std::vector<Type> types;  ///< by syntax node id; null where a node has none
  Diagnostics diagnostics;
  std::vector<LateCall> late_calls = {};
  std::vector<std::shared_ptr<const std::vector<Type>>> chunk_types =
      {};  ///< of each chunk of its body, as `types`
  const Variable* variable =
      nullptr;  ///< of a `let` statement: its type has every `?` opened to a dim of its own
  /// Of a `let` with a pattern; its variables are as `variable` is, its own types have the `?`.
  PatternPtr pattern = nullptr;
  std::vector<Specialisation> needs;  ///< definitions typed per rank and dtype, as they are used here
  /// Of a statement's function literal that is typed per rank and dtype: see TopLevelVariable.
  std::shared_ptr<const Declaration> literal;
  std::vector<std::shared_ptr<const TopLevelVariable>> captured;
};

}  // namespace quern
