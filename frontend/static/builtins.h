#pragma once
// The functions of the compile-time language: on dims, on lists (shapes and packs), on dtypes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"
#include "ir/type/static_value.h"

namespace quern {

/// The outcome of a builtin: a value, or a reason (fit for a diagnostic).
struct BuiltinOutcome {
  std::optional<StaticValue> value;
  std::string problem;
  DiagnosticKind kind = DiagnosticKind::ConstraintNotMet;  ///< of the problem
  /// Extents that must broadcast, which is undecided here; if nothing checks it later, it is the problem.
  std::vector<std::pair<Dim, Dim>> to_broadcast = {};
};
using StaticBuiltin = BuiltinOutcome (*)(const std::vector<StaticValue>& args, bool instance_level);

/// The builtin of this name, or null.
StaticBuiltin find_static_builtin(std::string_view name);

/// Whether a builtin compares how values are written: two dims that may be equal are different then.
bool compares_form(std::string_view builtin);

/// The names of all builtins, for did-you-mean.
std::vector<std::string> static_builtin_names();

}  // namespace quern
