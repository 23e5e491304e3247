#include "import/tensorflow/model.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "import/tensorflow/flow.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

using onnx::AttributeValue;
using onnx::Node;

namespace {

const std::string* text_of(const Node& node, std::string_view attribute) {
  const auto found = node.attributes.find(attribute);
  return found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
}

/// Turns bodies into graphs, functions when they are first called.
class Builder {
 public:
  explicit Builder(const GraphFile& file) : file_(file) {}

  Flow flow(const GraphBody& body) {
    return Flow(body, [this](const Node& node) { return adapted(node); });
  }
  auto take_functions() { return std::move(functions_); }

 private:
  /// The node as the importer knows it: of ONNX's domain where ONNX has its operator, and with graphs instead of the names of
  /// functions.
  Node adapted(Node node) {
    if (node.domain != kDomain) return node;
    if (node.op == "PartitionedCall" || node.op == "StatefulPartitionedCall") return call(std::move(node));
    if (node.op == "If" || node.op == "StatelessIf") {
      with_graphs(node, {"then_branch", "else_branch"});
      node.op = "If";
      node.domain = "";
    } else if (node.op == "While" || node.op == "StatelessWhile") {
      with_graphs(node, {"cond", "body"});
      node.op = "While";
    } else if (const Renamed* renamed = find_renamed(node.op)) {
      node.kind = std::exchange(node.op, std::string(renamed->onnx));
      node.domain = "";
      if (renamed->adapt) renamed->adapt(node);
    }
    return node;
  }

  void with_graphs(Node& node, std::initializer_list<std::string_view> attributes) {
    for (const std::string_view attribute : attributes) {
      if (const std::string* name = text_of(node, attribute)) {
        onnx::GraphPtr graph = function(*name);
        node.attributes.insert_or_assign(std::string(attribute), std::move(graph));
      }
    }
  }

  Node call(Node node) {
    const std::string* name = text_of(node, "f");
    if (!name) throw Refusal(fmt::format("{} `{}`: names no function", node.op, node.name));
    const onnx::GraphPtr graph = function(*name);
    onnx::Function made;
    for (const onnx::Port& input : graph->inputs) made.inputs.push_back(input.name);
    for (const onnx::Port& output : graph->outputs) made.outputs.push_back(output.name);
    for (const auto& [constant, tensor] : graph->initializers) {
      made.nodes.push_back({constant, "Constant", "", {}, {constant}, {}});
      made.nodes.back().attributes["value"] = tensor;
    }
    made.nodes.insert(made.nodes.end(), graph->nodes.begin(), graph->nodes.end());
    node.op = *name;
    node.domain = kFunctionDomain;
    node.attributes.clear();
    functions_.insert_or_assign({node.domain, node.op}, std::move(made));
    return node;
  }

  onnx::GraphPtr function(const std::string& name) {
    constexpr int kDeepest = 32;
    if (const auto known = graphs_.find(name); known != graphs_.end()) {
      if (!known->second) throw Refusal(fmt::format("the function `{}` calls itself", name));
      return known->second;
    }
    const auto body = file_.functions.find(name);
    if (body == file_.functions.end()) throw Refusal(fmt::format("there is no function `{}`", name));
    if (++depth_ > kDeepest) throw Refusal("functions call each other too deep");
    graphs_[name] = nullptr;
    onnx::Graph graph = flow(body->second).graph(body->second.outputs);
    for (const std::string& input : body->second.inputs) graph.inputs.push_back({input, {}, {}, {}});
    --depth_;
    return graphs_[name] = std::make_shared<const onnx::Graph>(std::move(graph));
  }

  const GraphFile& file_;
  std::map<std::string, onnx::GraphPtr> graphs_;
  std::map<std::pair<std::string, std::string>, onnx::Function> functions_;
  int depth_ = 0;
};

/// An input of the model, as far as its node says what it is.
onnx::Port port_of(const Node& node) {
  onnx::Port port{node.name, {}, {}, {}};
  if (const auto found = node.attributes.find("dtype"); found != node.attributes.end())
    if (const auto* code = std::get_if<int64_t>(&found->second)) {
      port.dtype = dtype_of(*code);
      if (!port.dtype) port.fault = fmt::format("of the dtype {}", dtype_name(*code));
    }
  const auto found = node.attributes.find("shape");
  const auto* shape =
      found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  if (!shape) return port;
  port.shape.emplace();
  for (const int64_t extent : *shape) {
    if (extent >= 0)
      port.shape->emplace_back(extent);
    else
      port.shape->emplace_back(std::string());
  }
  return port;
}

/// Of several inputs the first extents, where they are open, are that of one batch.
void share_batch(std::vector<onnx::Port>& inputs) {
  std::vector<onnx::Extent*> open;
  for (onnx::Port& input : inputs)
    if (input.shape && !input.shape->empty() && input.shape->front() == onnx::Extent(std::string()))
      open.push_back(&input.shape->front());
  if (open.size() < 2) return;
  for (onnx::Extent* extent : open) *extent = std::string("batch");
}

/// "name:0" is `name`.
std::string canonical(std::string name) {
  if (name.ends_with(":0")) name.resize(name.size() - 2);
  return name;
}

/// The nodes that these values need or wait for: what is left out need not be sound.
GraphBody needed_part(const GraphBody& body, const std::vector<std::string>& results) {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < body.nodes.size(); ++i) places.emplace(body.nodes[i].node.name, i);
  std::vector<bool> is_needed(body.nodes.size());
  std::vector<size_t> open;
  const auto need = [&](const std::string& value) {
    const auto found = places.find(value.substr(0, value.rfind(':')));
    if (found == places.end() || is_needed[found->second]) return;
    is_needed[found->second] = true;
    open.push_back(found->second);
  };
  for (const std::string& result : results) need(result);
  while (!open.empty()) {
    const GraphNode& next = body.nodes[open.back()];
    open.pop_back();
    for (const std::string& input : next.node.inputs) need(input);
    for (const std::string& control : next.controls) need(control);
  }
  GraphBody part;
  for (size_t i = 0; i < body.nodes.size(); ++i)
    if (is_needed[i]) part.nodes.push_back(body.nodes[i]);
  return part;
}

onnx::Model model_of(const GraphFile& file, const std::vector<std::string>& results) {
  Builder builder(file);
  Flow flow = builder.flow(results.empty() ? file.graph : needed_part(file.graph, results));
  std::vector<std::string> outputs;
  for (const std::string& result : results) {
    outputs.push_back(canonical(result));
    if (!flow.has(outputs.back())) throw Refusal(fmt::format("--result: the graph has no node `{}`", result));
  }
  if (outputs.empty()) outputs = flow.unread();
  onnx::Model model;
  model.opset = kOpset;
  onnx::Graph graph = flow.graph(outputs);
  for (const Node* placeholder : flow.placeholders(outputs)) graph.inputs.push_back(port_of(*placeholder));
  share_batch(graph.inputs);
  model.graph = std::make_shared<const onnx::Graph>(std::move(graph));
  model.functions = builder.take_functions();
  return model;
}

}  // namespace

Result<onnx::Model> read_model(const std::string& path, const std::vector<std::string>& results) {
  const auto file = read_graph(path);
  if (!file) return file.error();
  try {
    return model_of(*file, results);
  } catch (const Refusal& refusal) {
    return Failure{fmt::format("`{}`: {}", path, refusal.what())};
  }
}

}  // namespace quern::tensorflow
