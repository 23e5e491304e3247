#pragma once
// Polymorphic types: a type, the variables that each use instantiates with fresh unknowns, and their
// constraints.

#include <string>
#include <utility>
#include <vector>

#include "ir/base/origin.h"
#include "ir/type/static_value.h"
#include "ir/type/type.h"

namespace quern {

/// What an unknown dtype may become.
enum class DTypeClass : uint8_t {
  Any,
  Number,  ///< of an integer literal: any numeric dtype, int32 by default
  Float,   ///< of a float literal: float32 by default
};

/// An operator's relation that a polymorphic type leaves open: it must hold at each use.
struct Constraint {
  std::string op;
  std::vector<Type> args;
  std::vector<std::pair<std::string, StaticValue>> attributes;  ///< as given at the call
  Type result = nullptr;
  Origin origin;       ///< the call that needs it
  std::string symbol;  ///< the symbol used for the operator there, or ""
  friend bool operator==(const Constraint& a, const Constraint& b) {
    return a.op == b.op && a.args == b.args && a.attributes == b.attributes && a.result == b.result;
  }
};

struct Scheme {
  std::vector<Dim> dim_vars;
  std::vector<Type> type_vars;
  Type type = nullptr;
  std::vector<std::pair<DType, DTypeClass>> dtype_vars = {};
  std::vector<Constraint> constraints = {};
  /// Whether the definition is retyped for each rank and dtype of its uses.
  bool specialised = false;
  bool is_general() const { return !dim_vars.empty() || !type_vars.empty() || !dtype_vars.empty(); }
  friend bool operator==(const Scheme&, const Scheme&) = default;
};

/// `fn [n, a](Tensor[(n,), a]) -> b where add(…) -> b`.
std::string to_string(const Scheme& scheme);
/// Whether two schemes are equal up to renaming of variables.
bool same_but_for_names(const Scheme& a, const Scheme& b);

}  // namespace quern
