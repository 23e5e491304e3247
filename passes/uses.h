#pragma once
// Use counts of variables.

#include <unordered_map>

#include "ir/expr/expr.h"

namespace quern {

using Uses = std::unordered_map<const Variable*, int>;

inline void count_uses(ExprPtr expr, Uses& uses) {
  if (auto* var = as<VarExpr>(expr)) ++uses[var->variable];
  for_each_child(expr, [&](ExprPtr child) { count_uses(child, uses); });
}

}  // namespace quern
