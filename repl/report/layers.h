#pragma once
// A function layer by layer: the result of each call, the weights that it reads, and its cost.

#include <string>
#include <vector>

#include "ide/kernel_cost.h"
#include "ir/expr/expr.h"

namespace quern {

/// A call of an operator or a function, or an index expression.
struct Layer {
  std::string name;   ///< `nn.conv2d`, `@block`
  Type type;          ///< of its result
  Dim parameters;     ///< elements of the weights that it reads
  KernelCost cost{};  ///< of it alone, as it would run by itself
};

/// Weights are constants, variables of the session, and fields of a parameter that is a record or a tuple; also
/// parameters of fixed shapes, where no operator takes them as its first operand, which is what flows through.
struct LayerTable {
  std::vector<Layer> layers;      ///< in the order in which they are evaluated
  Dim parameters = dim_const(0);  ///< of all weights, each once
  bool has_arms = false;  ///< whether some stand in arms of `if` or `match`, of which one is evaluated
  std::vector<std::string> repeated{};   ///< recursive functions, whose cost is unknown
  std::vector<std::string> open_dims{};  ///< that have no number
};
/// The layers of a function, with `dims` in the place of its dim variables.
LayerTable layers_of(const Definition& definition, const Substitution& dims, FunctionSource& functions);

/// The table, with a line for the total, and notes on what it omits.
std::string to_text(const LayerTable& table);

}  // namespace quern
