#pragma once
// What a call that is not whole yet decides of an operator's signature.

#include <string>
#include <utility>
#include <vector>

#include "frontend/signature/signature.h"

namespace quern {

/// The arguments of a call as far as they are known.
struct PartialCall {
  std::vector<Type> tensors;  ///< in the order of the parameters; null for one that is not known
  std::vector<std::pair<std::string, StaticValue>> attributes;
};

/// The names of the signature (dims, packs, dtypes, attributes, what `static` clauses compute) whose values
/// follow from these arguments and the clauses. Arguments that do not fit decide nothing, and nothing is
/// reported.
StaticEnv known_names(const Declaration& op, const PartialCall& call, Scope& scope);

}  // namespace quern
