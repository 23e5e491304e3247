#pragma once
// The results of inference.

#include <memory>
#include <vector>

#include "frontend/signature/signature.h"
#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"
#include "ir/expr/expr.h"

namespace quern {

/// A call of an operator whose definition is resolved late.
struct LateCall {
  std::shared_ptr<const OpInstance> instance;
  Place place;
};

/// A definition at the parameter types of a use, and the use.
struct Specialisation {
  InstanceRequest request;
  Place use;
};

/// The result of inferring one declaration.
struct Inferred {
  Definition definition;    ///< body is null if there were errors
  std::vector<Type> types;  ///< by syntax node id; null for a node without one
  Diagnostics diagnostics;
  std::vector<LateCall> late_calls = {};
  std::vector<std::shared_ptr<const std::vector<Type>>> chunk_types =
      {};                              ///< of each chunk of its body, as `types`
  const Variable* variable = nullptr;  ///< of a `let` statement: its type has every `?` opened to a fresh dim
  /// Of a `let` with a pattern; its variables are like `variable`, its own types keep the `?`.
  PatternPtr pattern = nullptr;
  std::vector<Specialisation> needs;  ///< specialisations per rank and dtype of definitions used here
  /// Of a statement's function literal that is specialised per rank and dtype: see TopLevelVariable.
  std::shared_ptr<const Declaration> literal;
  std::vector<std::shared_ptr<const TopLevelVariable>> captured;
};

}  // namespace quern
