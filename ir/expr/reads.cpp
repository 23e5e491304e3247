#include "ir/expr/reads.h"

#include <algorithm>

namespace quern {

bool mentions(ExprPtr expr, const Variable* variable) {
  const std::vector<const Variable*> free = free_variables(expr);
  return std::ranges::find(free, variable) != free.end();
}

bool is_read_at(const ReadExpr& read, const Variable* tensor, std::span<const Dim> vars) {
  auto* var = as<VarExpr>(read.tensor);
  return var && var->variable == tensor && std::ranges::equal(read.indices, vars, [](ExprPtr index, Dim at) {
           auto* dim = as<DimValueExpr>(index);
           return dim && dim->dim == at;
         });
}

}  // namespace quern
