#pragma once
// What an incomplete call determines about an operator's signature.

#include <string>
#include <utility>
#include <vector>

#include "frontend/signature/signature.h"

namespace quern {

/// The known arguments of a call.
struct PartialCall {
  std::vector<Type> tensors;  ///< in parameter order; null if unknown
  std::vector<std::pair<std::string, StaticValue>> attributes;
};

/// The names of the signature (dims, packs, dtypes, attributes, names of `static` clauses) whose values
/// follow from these arguments and the clauses. Mismatched arguments determine nothing, and nothing is
/// reported.
StaticEnv known_names(const Declaration& op, const PartialCall& call, Scope& scope);

}  // namespace quern
