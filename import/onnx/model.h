#pragma once
// A model in ONNX's file format (onnx.ai, IR versions 3 to 10) as plain structs. Only the reader includes protobuf.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/base/result.h"
#include "ir/type/dtype.h"
#include "ir/value/tensor.h"

namespace quern::onnx {

struct Graph;
using GraphPtr = std::shared_ptr<const Graph>;

/// In a function of the model: the attribute of its call.
struct AttributeReference {
  std::string name;
  friend bool operator==(const AttributeReference&, const AttributeReference&) = default;
};

/// What an attribute of a node holds. Strings are UTF-8; lists of tensors and graphs are not kept.
using AttributeValue =
    std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                 std::vector<std::string>, TensorPtr, GraphPtr, AttributeReference>;

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  ///< "" is an optional one that is left out
  std::map<std::string, AttributeValue, std::less<>> attributes;
  std::string kind = {};  ///< the operator's name in the model's own format, where that is not `op`

  const std::string& own_op() const { return kind.empty() ? op : kind; }
};

/// An extent of an input: a number, a symbol ("batch"), or neither ("").
using Extent = std::variant<int64_t, std::string>;

/// An input or output of a graph, as far as the file declares it.
struct Port {
  std::string name;
  std::optional<DType> dtype;
  std::optional<std::vector<Extent>> shape;
  std::string fault;  ///< why a value of this type has no counterpart ("a sequence"), or ""
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::map<std::string, TensorPtr> initializers;
  std::vector<Port> inputs, outputs;
};

/// An operator that the model itself defines by nodes.
struct Function {
  std::vector<std::string> inputs, outputs;
  std::vector<Node> nodes;
  int64_t opset = 0;  ///< of the default domain, for its nodes
};

struct Model {
  GraphPtr graph;
  std::string producer;                                               ///< "pytorch 2.1", or ""
  int64_t opset = 0;                                                  ///< of the default domain
  std::map<std::pair<std::string, std::string>, Function> functions;  ///< by domain and name
};

/// Reads a model and the files beside it that hold its tensors. Tensors share the message's memory.
/// Fails for what is not a sound model: truncated, of another format, with sizes that do not fit, with tensors in files
/// outside of the model's folder, too deeply nested.
Result<Model> read_model(const std::string& path);
/// Reads a file with a single tensor (`TensorProto`), as ONNX's test data has them.
Result<TensorPtr> read_tensor(const std::string& path);

}  // namespace quern::onnx
