// The nodes of a frame as one `While`.

#include <fmt/format.h>

#include <algorithm>

#include "import/tensorflow/flow.h"

namespace quern::tensorflow {

using onnx::Node;

/// Which state of the loop an `Exit` gives.
size_t Flow::state_of(const Frame& frame, size_t exit) const {
  const auto refuse = [&] {
    return Refusal(fmt::format("Exit `{}`: leaves its loop with what is no state of it", node(exit).name));
  };
  if (node(exit).inputs.empty()) throw refuse();
  const size_t leaving = maker(node(exit).inputs[0]);
  if (!is_loop_switch(leaving)) throw refuse();
  const size_t state = maker(unnamed(node(leaving).inputs[0]));
  const auto place = std::ranges::find(frame.states, state);
  if (place == frame.states.end()) throw refuse();
  return static_cast<size_t>(place - frame.states.begin());
}

void Flow::loop_of(size_t number) {
  const Frame frame = frames_[number];
  if (frame.condition == kNone || node(frame.condition).inputs.size() != 1)
    throw Refusal(fmt::format("the loop `{}` has no condition", frame.name));
  Node made{frame.name, "While", std::string(kDomain), {}, {}, {}};
  std::vector<std::string> next;
  std::vector<onnx::Port> ports;
  std::set<std::string> states;
  for (size_t state : frame.states) {
    const Node& merge = node(state);
    const bool is_turned = merge.inputs.size() == 2 && is_op(maker(merge.inputs[0]), "NextIteration");
    const size_t enter = merge.inputs.size() == 2 ? maker(merge.inputs[is_turned ? 1 : 0]) : kNone,
                 back = merge.inputs.size() == 2 ? maker(merge.inputs[is_turned ? 0 : 1]) : kNone;
    if (!is_op(enter, "Enter") || !is_op(back, "NextIteration") || node(enter).inputs.empty() ||
        node(back).inputs.empty())
      throw Refusal(fmt::format("Merge `{}`: is not of an `Enter` and a `NextIteration`", merge.name));
    made.inputs.push_back(node(enter).inputs[0]);
    next.push_back(node(back).inputs[0]);
    ports.push_back({merge.name, {}, {}, {}});
    states.insert(merge.name);
  }
  const auto stops = [&](const std::string& value, size_t index) {
    return frame_of_[index] != number || states.contains(value);
  };
  Slice condition = slice({node(frame.condition).inputs[0]}, stops), body = slice(next, stops);
  condition.graph.inputs = body.graph.inputs = ports;
  std::set<std::string> captured = std::move(condition.captured);
  captured.merge(body.captured);
  for (const std::string& state : states) captured.erase(state);
  made.attributes["cond"] = std::make_shared<const onnx::Graph>(std::move(condition.graph));
  made.attributes["body"] = std::make_shared<const onnx::Graph>(std::move(body.graph));
  made.outputs.resize(frame.states.size());
  std::vector<Node> again;  // a state may leave more than once
  for (size_t exit : frame.exits) {
    std::string& output = made.outputs[state_of(frame, exit)];
    if (output.empty())
      output = node(exit).name;
    else
      again.push_back({node(exit).name, "Identity", "", {output}, {node(exit).name}, {}});
  }
  const size_t rank = frame.exits.empty() ? nodes_.size() : frame.exits.front();
  add(std::move(made), frame.parent, rank, std::move(captured));
  for (Node& same : again) add(std::move(same), frame.parent, rank, {});
}

}  // namespace quern::tensorflow
