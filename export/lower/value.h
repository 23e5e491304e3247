#pragma once
// What a variable of the language is in a graph: a tensor by its name, the parts of a tuple or record, or a function, whose calls
// are unfolded.

#include <string>
#include <vector>

#include "export/graph/graph_writer.h"
#include "ir/expr/expr.h"

namespace quern::onnx {

struct GraphValue {
  Name tensor;                     ///< "" where there are parts
  std::vector<GraphValue> fields;  ///< of a tuple or a record
  const FnExpr* function = nullptr;
};

}  // namespace quern::onnx
