#pragma once
// From the control flow of TensorFlow's dataflow graphs to graphs that stand in nodes. A loop is there a cycle of nodes (`Enter`,
// `Merge`, `Switch`, `NextIteration`, `Exit`; Yu et al. 2018, "Dynamic control flow in large-scale machine learning") and becomes
// one node `While` with a graph for its condition and one for its body; what lies between a `Switch` and a `Merge` elsewhere
// becomes an `If`.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/tensorflow/graph.h"
#include "import/text/refusal.h"

namespace quern::tensorflow {

using import_text::Refusal;

class Flow {
 public:
  /// What stands in a graph for a node of TensorFlow's.
  using Adapt = std::function<onnx::Node(const onnx::Node&)>;

  /// Throws a Refusal for what is no sound graph: names that are there twice, inputs that nothing computes, cycles that are no
  /// loops.
  Flow(const GraphBody& body, Adapt adapt);

  /// The nodes that these values need, in an order of evaluation. Constants are initializers; parameters of the body and
  /// `Placeholder`s are not among them. Throws a Refusal where the control flow has no such form.
  onnx::Graph graph(const std::vector<std::string>& outputs);
  /// The `Placeholder`s that they need.
  std::vector<const onnx::Node*> placeholders(const std::vector<std::string>& outputs) const;
  /// What a model computes that does not say it: outputs of nodes that nothing reads.
  std::vector<std::string> unread() const;
  /// Whether the body has such a value.
  bool has(const std::string& value) const;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  static constexpr size_t kMostSliced = 1'000'000;  ///< nodes in graphs, as often as they are there

  /// `true` of a value under a condition means that it is computed where the condition holds.
  using Condition = std::pair<std::string, bool>;
  using Conditions = std::vector<Condition>;

  /// A frame of TensorFlow's executor: the nodes of one loop.
  struct Frame {
    std::string name;
    size_t parent, depth;
    std::vector<size_t> states, exits;  ///< states: its loop's merges
    size_t condition = kNone;           ///< its LoopCond
  };
  /// A part of the graph, with what it takes from outside.
  struct Slice {
    onnx::Graph graph;
    std::set<std::string> captured;
  };

  /// What one `If` is made of: `Merge`s, and what they give where the condition holds and elsewhere.
  struct Branches {
    size_t made = kNone;
    std::vector<std::string> names, then, otherwise;
  };
  /// One of its nodes, or of a `Switch` one output.
  struct Part {
    std::string value;
    size_t index;
    std::vector<size_t> readers;
    size_t waits;  ///< for so many others
  };

  // flow.cpp
  void check();
  void name_outputs();
  void sort();
  void find_frames();
  bool assign_frames();
  std::pair<size_t, bool> enter_frame(size_t outer, const onnx::Node& node);
  size_t frame_by_needs(size_t index) const;
  size_t common_frame(size_t a, size_t b) const;
  bool is_within(size_t frame, size_t outer) const;
  /// The node that computes a value; kNone for a parameter of the body.
  size_t maker(const std::string& value) const;
  const onnx::Node& node(size_t index) const { return nodes_[index].node; }
  bool is_op(size_t index, std::string_view op) const { return index != kNone && node(index).op == op; }
  bool is_loop_switch(size_t index) const;
  bool is_state(size_t index) const;
  /// All that has to be computed before a node.
  std::vector<std::string> needs_of(size_t index) const;
  size_t add(onnx::Node node, size_t frame, size_t rank, std::set<std::string> captured);
  /// Whether a value, which a node makes, is taken as it is.
  using Stops = std::function<bool(const std::string& value, size_t node)>;
  Slice slice(const std::vector<std::string>& targets, const Stops& stops);
  void emit(std::vector<Part> parts, onnx::Graph& graph) const;
  void emit(const std::string& value, size_t index, onnx::Graph& graph) const;

  // branches.cpp
  void branches_of(size_t frame);
  Conditions conditions_of(const std::string& value) const;
  Conditions union_of(size_t index) const;
  void merge_branches(size_t index);
  Slice branch(const std::vector<std::string>& values, const Condition& condition, size_t frame);
  bool needs(const std::vector<std::string>& values, size_t target);
  void set_conditions(size_t merge, size_t made, const std::string& own);
  std::optional<bool> known_condition(const std::string& value) const;
  std::string unnamed(std::string value) const;

  // loops.cpp
  void loop_of(size_t frame);
  size_t state_of(const Frame& frame, size_t exit) const;

  Adapt adapt_;
  std::vector<GraphNode> nodes_;
  std::set<std::string> parameters_;
  std::unordered_map<std::string, size_t> by_name_, frames_by_name_,
      made_;  ///< made: values that nodes of control flow compute
  std::vector<size_t> order_;
  std::vector<size_t> frame_of_;
  std::vector<size_t> rank_;  ///< places in the file
  std::vector<Frame> frames_;
  std::vector<Conditions> conditions_;
  std::map<size_t, std::set<std::string>> captured_;  ///< by nodes with graphs
  std::map<std::pair<std::string, std::string>, Branches>
      branches_;  ///< the last ones, by condition and scope
  size_t sliced_ = 0;
};

}  // namespace quern::tensorflow
