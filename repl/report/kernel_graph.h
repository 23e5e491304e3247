#pragma once
// The data flow graph of the kernels of an optimised expression.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

struct KernelGraph {
  enum class NodeKind : unsigned char { Input, Kernel, Other, Result };
  struct Node {
    NodeKind kind;
    std::string name;   ///< `%x`, `dense_relu_1f0c77ab`, `@g`
    std::string shape;  ///< of its value; may be empty
    std::string flops;  ///< of a kernel; may be empty
    std::vector<size_t> reads{};
  };
  std::vector<Node> nodes;  ///< each after those that it reads
};

/// Of an optimised definition or expression. The arms of `if` and `match` are parts of the graph, the bodies
/// of functions that are called are not.
KernelGraph kernel_graph(ExprPtr optimised, const std::function<std::string(const FnExpr&)>& kernel_name);

/// A line for each node, by numbers.
std::string to_text(const KernelGraph& graph);
/// For Graphviz.
std::string to_dot(const KernelGraph& graph);

}  // namespace quern
