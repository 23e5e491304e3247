#pragma once
// Internal to ir/dim: integer linear arithmetic, decided by the Omega test (Pugh, "The Omega test: a
// fast and practical integer programming algorithm for dependence analysis", 1992): equalities by
// substitution, inequalities by Fourier-Motzkin elimination, exact over the integers through dark shadows and
// splinters.

#include <cstdint>
#include <vector>

namespace quern {

/// coefficients * variables + constant, >= 0 or == 0.
struct LinearConstraint {
  std::vector<int64_t> coefficients;  ///< one per variable; missing ones are 0
  int64_t constant = 0;
};

enum class Feasibility : uint8_t { Infeasible, Feasible, Unknown };

/// Whether some integers satisfy all constraints. Unknown beyond a bound on the work, or if a coefficient
/// does not fit 64 bits.
Feasibility integers_satisfy(std::vector<LinearConstraint> equalities,
                             std::vector<LinearConstraint> inequalities);

}  // namespace quern
