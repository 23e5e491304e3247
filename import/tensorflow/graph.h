#pragma once
// A graph of TensorFlow (a file with a `GraphDef`) as plain structs, in the terms of import/onnx/model.h. Only the reader
// includes protobuf.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/model.h"

namespace quern::tensorflow {

/// The domain of nodes whose operator is TensorFlow's, and of those that call a function of the graph.
inline constexpr std::string_view kDomain = "tensorflow", kFunctionDomain = "tensorflow.function";

/// The operator set of ONNX whose meaning its operators have here.
inline constexpr int64_t kOpset = 18;

/// A node, whose first output has its name and whose k-th one `name:k`; outputs are not listed yet. Attributes are TensorFlow's:
/// dtypes are their codes, shapes lists with -1 for what is not known, functions their names.
struct GraphNode {
  onnx::Node node;
  std::vector<std::string> controls;  ///< nodes that run before it
};

/// Nodes in the file's order; of a function with its parameters and results.
struct GraphBody {
  std::vector<GraphNode> nodes;
  std::vector<std::string> inputs, outputs;
};

struct GraphFile {
  GraphBody graph;
  std::map<std::string, GraphBody, std::less<>> functions;
};

/// Reads a frozen graph, binary or (`.pbtxt`) as text. Fails for what is no sound message, with tensors whose sizes do not fit,
/// for a saved model, and for more nodes than a person would read.
Result<GraphFile> read_graph(const std::string& path);

/// TensorFlow's dtype by its code, or nothing for strings, complex numbers and handles.
std::optional<DType> dtype_of(int64_t code);
std::string dtype_name(int64_t code);

/// How many outputs a node has; nothing for an operator that is not known.
std::optional<size_t> output_count(const onnx::Node& node);
/// The place of an output argument among an operator's outputs.
size_t output_place(std::string_view op, std::string_view argument);

}  // namespace quern::tensorflow
