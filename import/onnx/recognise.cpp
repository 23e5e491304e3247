#include "import/onnx/recognise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "import/tensorflow/graph.h"

namespace quern::onnx {

namespace {

/// Looks from the last node of a pattern back to its first.
class Recogniser {
 public:
  explicit Recogniser(const Graph& graph) : graph_(graph) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string& output : graph.nodes[i].outputs) makers_[output] = i;
      for (const std::string& input : graph.nodes[i].inputs) ++uses_[input];
      for (const auto& [name, value] : graph.nodes[i].attributes)
        if (const auto* inner = std::get_if<GraphPtr>(&value)) keep_used(**inner);
    }
    for (const Port& output : graph.outputs) ++uses_[output.name];
  }

  Graph run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      auto node = layer_norm(i);
      if (!node) node = layer_norm_as_scale(i);
      if (!node) node = gelu(i);
      if (!node) node = gelu_as_half(i);
      if (!node) node = silu(i);
      if (node) replaced_.emplace(i, *std::move(node));
      taken_.insert(tried_.begin(), tried_.end());
      tried_.clear();
    }
    Graph result = graph_;
    result.nodes.clear();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (auto layer = replaced_.find(i); layer != replaced_.end())
        result.nodes.push_back(layer->second);
      else if (!taken_.contains(i))
        result.nodes.push_back(graph_.nodes[i]);
    }
    return result;
  }

 private:
  void keep_used(const Graph& inner) {
    for (const Node& node : inner.nodes) {
      for (const std::string& input : node.inputs) uses_[input] += 2;
      for (const auto& [name, value] : node.attributes)
        if (const auto* deeper = std::get_if<GraphPtr>(&value)) keep_used(**deeper);
    }
    for (const Port& output : inner.outputs) uses_[output.name] += 2;
  }

  /// The node that makes a value, if it is of this operator and the value has so many uses.
  const Node* maker(const std::string& value, std::string_view op, size_t uses = 1) {
    auto found = makers_.find(value);
    if (found == makers_.end() || taken_.contains(found->second)) return nullptr;
    const Node& node = graph_.nodes[found->second];
    const bool is_known = node.domain.empty() || node.domain == tensorflow::kDomain;
    if (node.op != op || !is_known || uses_[value] != uses) return nullptr;
    inner_.push_back(found->second);
    return &node;
  }

  /// An initializer, or one under another name.
  bool is_weight(const std::string& value) const {
    auto maker = makers_.find(value);
    if (maker == makers_.end()) return graph_.initializers.contains(value);
    const Node& node = graph_.nodes[maker->second];
    return node.op == "Identity" && node.inputs.size() == 1 && graph_.initializers.contains(node.inputs[0]);
  }

  std::optional<double> number(const std::string& value) const {
    TensorPtr tensor;
    if (auto weight = graph_.initializers.find(value); weight != graph_.initializers.end())
      tensor = weight->second;
    if (auto found = makers_.find(value);
        found != makers_.end() && graph_.nodes[found->second].op == "Constant") {
      const auto& attributes = graph_.nodes[found->second].attributes;
      if (auto given = attributes.find("value"); given != attributes.end())
        if (const auto* held = std::get_if<TensorPtr>(&given->second)) tensor = *held;
    }
    return tensor && tensor->size() == 1 ? std::optional(element_as_double(*tensor, 0)) : std::nullopt;
  }
  bool is_number(const std::string& value, double wanted) const {
    const auto known = number(value);
    return known && std::abs(*known - wanted) <= 1e-3 * std::abs(wanted);
  }

  /// The operands of a node in either order, of which the second one is wanted by `fits`.
  template <class Fits>
  std::optional<std::pair<std::string, std::string>> operands(const Node& node, const Fits& fits) {
    if (node.inputs.size() != 2) return std::nullopt;
    for (size_t k : {1, 0})
      if (const size_t before = inner_.size(); fits(node.inputs[k]))
        return std::pair(node.inputs[1 - k], node.inputs[k]);
      else
        inner_.resize(before);
    return std::nullopt;
  }

  /// Takes the nodes of a pattern but its last; the node that stands for it.
  Node taken(size_t last, const std::string& op, std::vector<std::string> inputs, std::string_view named_by) {
    tried_ = inner_;
    std::erase(tried_, last);
    Node node{graph_.nodes[last].name, op, "", std::move(inputs), graph_.nodes[last].outputs, {}};
    // The first node of the pattern is in the scope of the layer.
    if (const size_t slash = named_by.rfind('/'); slash != std::string_view::npos)
      node.name = std::string(named_by.substr(0, slash + 1)) + op;
    return node;
  }

  /// `(x - mean) / sqrt(mean((x - mean)^2) + epsilon) * gamma + beta` over one axis.
  std::optional<Node> layer_norm(size_t last) {
    const Node& add = graph_.nodes[last];
    inner_.clear();
    if (add.op != "Add") return std::nullopt;
    const Node *scale = nullptr, *quotient = nullptr;
    const auto shifted =
        operands(add, [&](const std::string& value) { return (scale = maker(value, "Mul")) != nullptr; });
    if (!shifted || !is_weight(shifted->first)) return std::nullopt;
    const auto scaled = operands(
        *scale, [&](const std::string& value) { return (quotient = maker(value, "Div")) != nullptr; });
    if (!scaled || !is_weight(scaled->first) || quotient->inputs.size() != 2) return std::nullopt;
    const Node* root = maker(quotient->inputs[1], "Sqrt");
    const Node* padded = root ? maker(root->inputs[0], "Add") : nullptr;
    if (!padded) return std::nullopt;
    const auto epsilon = number(padded->inputs[1]);
    const Node* variance = maker(padded->inputs[0], "ReduceMean");
    const Node* square = variance ? maker(variance->inputs[0], "Pow") : nullptr;
    if (!epsilon || !square || !is_number(square->inputs[1], 2)) return std::nullopt;
    const std::string& centred = quotient->inputs[0];
    const Node* difference = square->inputs[0] == centred ? maker(centred, "Sub", uses_[centred]) : nullptr;
    // PyTorch's exporter may write the difference twice.
    if (!difference || uses_[centred] != 2) return std::nullopt;
    const Node* mean = maker(difference->inputs[1], "ReduceMean");
    if (!mean || mean->inputs[0] != difference->inputs[0]) return std::nullopt;
    const auto axes = mean->attributes.find("axes"), again = variance->attributes.find("axes");
    if (axes == mean->attributes.end() || again == variance->attributes.end() ||
        axes->second != again->second)
      return std::nullopt;
    const auto* list = std::get_if<std::vector<int64_t>>(&axes->second);
    if (!list || list->size() != 1) return std::nullopt;
    Node node =
        taken(last, "LayerNormalization", {mean->inputs[0], scaled->first, shifted->first}, mean->name);
    node.attributes["axis"] = list->front();
    node.attributes["epsilon"] = *epsilon;
    return node;
  }

  /// `x * scale + (beta - mean * scale)` with the scale `gamma / sqrt(variance + epsilon)`, as TensorFlow's batch norm of a layer's own
  /// moments is written.
  std::optional<Node> layer_norm_as_scale(size_t last) {
    const Node& add = graph_.nodes[last];
    inner_.clear();
    if (add.op != "Add") return std::nullopt;
    const Node* shift = nullptr;
    const auto summands =
        operands(add, [&](const std::string& value) { return (shift = maker(value, "Sub")) != nullptr; });
    const Node* scaled = summands ? maker(summands->first, "Mul") : nullptr;
    const Node* moved = scaled && is_weight(shift->inputs[0]) ? maker(shift->inputs[1], "Mul") : nullptr;
    if (!moved) return std::nullopt;
    const size_t place = std::ranges::count(scaled->inputs, moved->inputs[1]) == 1 ? 1 : 0;
    const std::string &scale = moved->inputs[place], &mean = moved->inputs[1 - place];
    if (std::ranges::count(scaled->inputs, scale) != 1) return std::nullopt;
    const std::string& x = scaled->inputs[scaled->inputs[0] == scale ? 1 : 0];
    const Node *factor = maker(scale, "Mul", 2), *root = nullptr;
    if (!factor) return std::nullopt;
    const auto factors = operands(
        *factor, [&](const std::string& value) { return (root = maker(value, "Rsqrt")) != nullptr; });
    const Node* padded = factors && is_weight(factors->first) ? maker(root->inputs[0], "Add") : nullptr;
    const Node* variance = padded ? maker(padded->inputs[0], "ReduceMean") : nullptr;
    const Node* square = variance ? maker(variance->inputs[0], "SquaredDifference") : nullptr;
    const Node* average = square && square->inputs[0] == x ? maker(mean, "ReduceMean", 2) : nullptr;
    if (!average || average->inputs[0] != x) return std::nullopt;
    const Node* same = square->inputs[1] == mean ? average : maker(square->inputs[1], "Identity");
    if (!same || (same != average && same->inputs[0] != mean)) return std::nullopt;
    const auto epsilon = number(padded->inputs[1]), axis = one_axis(*average), again = one_axis(*variance);
    if (!epsilon || !axis || axis != again) return std::nullopt;
    std::string scope = average->name.substr(0, average->name.rfind('/'));
    if (scope.ends_with("/moments")) scope.resize(scope.size() - std::string_view("moments").size());
    Node node = taken(last, "LayerNorm", {x, factors->first, shift->inputs[0]}, scope);
    node.domain = tensorflow::kDomain;
    node.attributes["axis"] = static_cast<int64_t>(*axis);
    node.attributes["epsilon"] = *epsilon;
    return node;
  }

  /// The single axis that a reduction takes as its input and keeps.
  std::optional<double> one_axis(const Node& reduction) const {
    const auto keeps = reduction.attributes.find("keepdims");
    if (reduction.inputs.size() != 2 || keeps == reduction.attributes.end() ||
        keeps->second != AttributeValue(int64_t{1}))
      return std::nullopt;
    return number(reduction.inputs[1]);
  }

  /// `x * (0.5 * (erf(x / sqrt(2)) + 1))`, in BERT's order.
  std::optional<Node> gelu_as_half(size_t last) {
    const Node& product = graph_.nodes[last];
    inner_.clear();
    if (product.op != "Mul") return std::nullopt;
    const Node *half = nullptr, *sum = nullptr, *erf = nullptr;
    const auto factors =
        operands(product, [&](const std::string& value) { return (half = maker(value, "Mul")) != nullptr; });
    if (!factors) return std::nullopt;
    const auto halved =
        operands(*half, [&](const std::string& value) { return (sum = maker(value, "Add")) != nullptr; });
    if (!halved || !is_number(halved->first, 0.5)) return std::nullopt;
    const auto terms =
        operands(*sum, [&](const std::string& value) { return (erf = maker(value, "Erf")) != nullptr; });
    const Node* quotient = terms && is_number(terms->first, 1) ? maker(erf->inputs[0], "Div") : nullptr;
    if (!quotient || quotient->inputs[0] != factors->first || !is_number(quotient->inputs[1], std::sqrt(2.0)))
      return std::nullopt;
    return taken(last, "Gelu", {factors->first}, quotient->name);
  }

  /// `x * (erf(x / sqrt(2)) + 1) * 0.5`, in PyTorch's order.
  std::optional<Node> gelu(size_t last) {
    const Node& half = graph_.nodes[last];
    inner_.clear();
    if (half.op != "Mul") return std::nullopt;
    const Node *product = nullptr, *sum = nullptr, *erf = nullptr;
    const auto halved =
        operands(half, [&](const std::string& value) { return (product = maker(value, "Mul")) != nullptr; });
    if (!halved || !is_number(halved->first, 0.5)) return std::nullopt;
    const auto factors =
        operands(*product, [&](const std::string& value) { return (sum = maker(value, "Add")) != nullptr; });
    if (!factors) return std::nullopt;
    const auto terms =
        operands(*sum, [&](const std::string& value) { return (erf = maker(value, "Erf")) != nullptr; });
    const Node* quotient = terms && is_number(terms->first, 1) ? maker(erf->inputs[0], "Div") : nullptr;
    if (!quotient || quotient->inputs[0] != factors->first || !is_number(quotient->inputs[1], std::sqrt(2.0)))
      return std::nullopt;
    return taken(last, "Gelu", {factors->first}, quotient->name);
  }

  /// `x * sigmoid(x)`.
  std::optional<Node> silu(size_t last) {
    const Node& product = graph_.nodes[last];
    inner_.clear();
    if (product.op != "Mul") return std::nullopt;
    const Node* sigmoid = nullptr;
    const auto factors = operands(
        product, [&](const std::string& value) { return (sigmoid = maker(value, "Sigmoid")) != nullptr; });
    if (!factors || sigmoid->inputs[0] != factors->first) return std::nullopt;
    return taken(last, "Silu", {factors->first}, sigmoid->name);
  }

  const Graph& graph_;
  std::map<std::string, size_t> makers_, uses_;
  std::map<size_t, Node> replaced_;
  std::set<size_t> taken_;
  std::vector<size_t> inner_, tried_;
};

}  // namespace

Graph with_layers(const Graph& graph) { return Recogniser(graph).run(); }

}  // namespace quern::onnx
