#pragma once
// From type syntax to types.

#include <map>
#include <set>
#include <string>

#include "frontend/static/eval.h"
#include "frontend/static/scope.h"
#include "ir/type/type.h"

namespace quern {

/// The names that a type may mention.
struct TypeEnv {
  StaticEnv statics;                               ///< dims, packs, dtypes, attributes
  std::map<std::string, Type, std::less<>> types;  ///< type variables
  /// Packs of function literals being inferred, whose rank is still open: a type with one is not yet
  /// determined.
  std::set<std::string, std::less<>> open_packs = {};
};

/// Whether a type mentions a pack of open rank.
bool names_open_pack(SyntaxPtr type, const TypeEnv& env);

/// The type denoted by `syntax`; error_type() after a diagnostic. `_` becomes an unknown of the running
/// inference, and `?` stays `?`.
Type resolve_type(SyntaxPtr syntax, const TypeEnv& env, StaticEvaluator& evaluator, Scope& scope,
                  Diagnostics& diagnostics, uint32_t declaration);

}  // namespace quern
