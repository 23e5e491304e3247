#include "import/tensorflow/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace quern::tensorflow {

using onnx::Node;

namespace {

constexpr size_t kDeepestLoop = 32;  ///< loops in each other

std::string place_of(const Node& node) { return fmt::format("{} `{}`", node.op, node.name); }

/// "node:1" in two.
std::pair<std::string, size_t> parts_of(const std::string& value) {
  const size_t colon = value.rfind(':');
  if (colon == std::string::npos) return {value, 0};
  return {value.substr(0, colon), std::stoul(value.substr(colon + 1))};
}

}  // namespace

Flow::Flow(const GraphBody& body, Adapt adapt)
    : adapt_(std::move(adapt)), nodes_(body.nodes), parameters_(body.inputs.begin(), body.inputs.end()) {
  check();
  name_outputs();
  sort();
  find_frames();
  conditions_.resize(nodes_.size());
  rank_.resize(nodes_.size());
  std::iota(rank_.begin(), rank_.end(), size_t{0});
  std::vector<size_t> deepest_first;
  for (size_t i = 0; i < frames_.size(); ++i) deepest_first.push_back(i);
  std::ranges::stable_sort(deepest_first, std::greater(), [&](size_t i) { return frames_[i].depth; });
  for (size_t frame : deepest_first) {
    branches_of(frame);
    if (frame != 0) loop_of(frame);
  }
}

void Flow::check() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (node(i).name.empty() || node(i).name.find(':') != std::string::npos)
      throw Refusal(fmt::format("`{}` is no name of a node", node(i).name));
    if (!by_name_.emplace(node(i).name, i).second || parameters_.contains(node(i).name))
      throw Refusal(fmt::format("there are two nodes `{}`", node(i).name));
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const std::string& input : node(i).inputs) {
      if (!has(input)) throw Refusal(fmt::format("{}: no node computes `{}`", place_of(node(i)), input));
      const auto [name, place] = parts_of(input);
      const size_t from = parameters_.contains(name) ? kNone : by_name_.at(name);
      if (from == kNone) continue;
      if (const auto count = output_count(node(from)); count && place >= *count)
        throw Refusal(fmt::format("{}: reads output {} of {}, which has {}", place_of(node(i)), place,
                                  place_of(node(from)), *count));
    }
    // Control flow alone may be waited for, by names that a parameter has.
    std::erase_if(nodes_[i].controls, [&](const std::string& name) { return !by_name_.contains(name); });
  }
}

/// Outputs that something reads have names, so that operators know what is asked of them.
void Flow::name_outputs() {
  constexpr size_t kMost = 1024;
  for (GraphNode& each : nodes_)
    each.node.outputs.resize(std::min(kMost, output_count(each.node).value_or(1)));
  for (const GraphNode& reader : nodes_)
    for (const std::string& input : reader.node.inputs) {
      const auto [name, place] = parts_of(input);
      if (parameters_.contains(name)) continue;
      auto& outputs = nodes_[by_name_.at(name)].node.outputs;
      if (place >= outputs.size() && place < kMost) outputs.resize(place + 1);
      if (place < outputs.size()) outputs[place] = input;
    }
}

bool Flow::has(const std::string& value) const {
  const size_t colon = value.rfind(':');
  if (colon != std::string::npos) {
    const std::string_view digits = std::string_view(value).substr(colon + 1);
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
  }
  const std::string name = value.substr(0, colon);
  return by_name_.contains(name) || parameters_.contains(name);
}

size_t Flow::maker(const std::string& value) const {
  if (const auto made = made_.find(value); made != made_.end()) return made->second;
  const auto found = by_name_.find(value.substr(0, value.rfind(':')));
  return found == by_name_.end() ? kNone : found->second;
}

bool Flow::is_state(size_t index) const {
  return is_op(index, "Merge") && std::ranges::any_of(node(index).inputs, [&](const std::string& input) {
           return is_op(maker(input), "NextIteration");
         });
}

bool Flow::is_loop_switch(size_t index) const {
  return is_op(index, "Switch") && node(index).inputs.size() == 2 &&
         is_op(maker(node(index).inputs[1]), "LoopCond");
}

std::vector<std::string> Flow::needs_of(size_t index) const {
  std::vector<std::string> needs = node(index).inputs;
  if (const auto captured = captured_.find(index); captured != captured_.end())
    needs.insert(needs.end(), captured->second.begin(), captured->second.end());
  return needs;
}

/// In an order in which each node stands behind what it needs, but for the way back to a loop's begin.
void Flow::sort() {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> states(nodes_.size(), State::New);
  std::vector<std::pair<size_t, size_t>> open;  // with the number of needs that are looked at
  const auto need = [&](size_t index, size_t k) -> size_t {
    const auto& inputs = node(index).inputs;
    if (k >= inputs.size()) return by_name_.at(nodes_[index].controls[k - inputs.size()]);
    const size_t from = maker(inputs[k]);
    return is_op(index, "Merge") && is_op(from, "NextIteration") ? kNone : from;
  };
  for (size_t first = 0; first < nodes_.size(); ++first) {
    if (states[first] != State::New) continue;
    states[first] = State::Open;
    open.emplace_back(first, 0);
    while (!open.empty()) {
      const size_t index = open.back().first, k = open.back().second++;
      if (k == node(index).inputs.size() + nodes_[index].controls.size()) {
        states[index] = State::Done;
        order_.push_back(index);
        open.pop_back();
        continue;
      }
      const size_t next = need(index, k);
      if (next == kNone || states[next] == State::Done) continue;
      if (states[next] == State::Open)
        throw Refusal(fmt::format("{} needs its own result, and is in no loop", place_of(node(next))));
      states[next] = State::Open;
      open.emplace_back(next, 0);
    }
  }
}

bool Flow::is_within(size_t frame, size_t outer) const {
  while (frame != outer && frame != 0) frame = frames_[frame].parent;
  return frame == outer;
}

/// A frame is known by its name. What is entered from outside of the loop around it, as constants may be, leaves it where it is.
std::pair<size_t, bool> Flow::enter_frame(size_t outer, const Node& enter) {
  const auto attribute = enter.attributes.find("frame_name");
  const auto* name =
      attribute == enter.attributes.end() ? nullptr : std::get_if<std::string>(&attribute->second);
  if (!name) throw Refusal(fmt::format("{}: lacks its attribute `frame_name`", place_of(enter)));
  const auto [known, is_new] = frames_by_name_.emplace(*name, frames_.size());
  const size_t frame = known->second;
  if (is_new) frames_.push_back({*name, 0, 1, {}, {}, kNone});
  if (is_within(outer, frame)) throw Refusal(fmt::format("the loop `{}` enters itself", *name));
  const Frame before = frames_[frame];
  if (frames_[outer].depth > frames_[before.parent].depth) frames_[frame].parent = outer;
  frames_[frame].depth = frames_[frames_[frame].parent].depth + 1;
  if (frames_[frame].depth > kDeepestLoop) throw Refusal("its loops stand too deep in each other");
  return {frame, is_new || before.parent != frames_[frame].parent || before.depth != frames_[frame].depth};
}

/// The inner one of two frames.
size_t Flow::common_frame(size_t a, size_t b) const { return frames_[a].depth >= frames_[b].depth ? a : b; }

/// The frame of a node by those of what it needs.
size_t Flow::frame_by_needs(size_t index) const {
  size_t frame = 0;
  for (const std::string& input : node(index).inputs)
    if (const size_t from = maker(input); from != kNone && !is_op(from, "NextIteration"))
      frame = common_frame(frame, frame_of_[from]);
  for (const std::string& control : nodes_[index].controls)
    frame = common_frame(frame, frame_of_[by_name_.at(control)]);
  return frame;
}

/// Puts each node into its frame; whether a frame turned out to be inside of another one.
bool Flow::assign_frames() {
  bool has_moved = false;
  for (size_t index : order_) {
    size_t frame = frame_by_needs(index);
    if (is_op(index, "Enter")) {
      const auto [entered, is_moved] = enter_frame(frame, node(index));
      frame = entered;
      has_moved = has_moved || is_moved;
    } else if (is_op(index, "Exit")) {
      if (frame == 0) throw Refusal(fmt::format("{}: is in no loop", place_of(node(index))));
      frame = frames_[frame].parent;
    }
    frame_of_[index] = frame;
  }
  return has_moved;
}

void Flow::find_frames() {
  frames_.push_back({"", 0, 0, {}, {}, kNone});
  frame_of_.assign(nodes_.size(), 0);
  for (size_t turn = 0; assign_frames(); ++turn)
    if (turn > kDeepestLoop) throw Refusal("its loops stand in each other in no order");
  for (size_t index : order_) {
    const Node& own = node(index);
    const size_t frame = frame_by_needs(index);
    for (const std::string& input : own.inputs)
      if (const size_t from = maker(input);
          from != kNone && !is_op(from, "NextIteration") && !is_within(frame, frame_of_[from]))
        throw Refusal(
            fmt::format("{}: reads from the loops `{}` and `{}`, of which neither is inside of the other",
                        place_of(own), frames_[frame].name, frames_[frame_of_[from]].name));
    if (own.op == "Exit") frames_[frame].exits.push_back(index);
    if (own.op == "LoopCond") frames_[frame].condition = index;
    if (is_state(index)) frames_[frame].states.push_back(index);
  }
}

size_t Flow::add(Node made, size_t frame, size_t rank, std::set<std::string> captured) {
  const size_t index = nodes_.size();
  for (const std::string& output : made.outputs)
    if (!output.empty()) made_[output] = index;
  nodes_.push_back({std::move(made), {}});
  frame_of_.push_back(frame);
  rank_.push_back(rank);
  conditions_.emplace_back();
  captured_[index] = std::move(captured);
  return index;
}

/// A node as it stands in a graph: what only leads from one part of the control flow to another is the value itself.
void Flow::emit(const std::string& value, size_t index, onnx::Graph& graph) const {
  const Node& own = node(index);
  const bool passes = own.op == "Enter" || own.op == "Switch" || own.op == "LoopCond";
  if (passes) {
    if (own.inputs.empty()) throw Refusal(fmt::format("{}: lacks its input 0", place_of(own)));
    graph.nodes.push_back({own.name, "Identity", "", {own.inputs[0]}, {value}, {}});
    return;
  }
  if (own.op == "Const")
    if (const auto found = own.attributes.find("value"); found != own.attributes.end())
      if (const auto* tensor = std::get_if<TensorPtr>(&found->second)) {
        graph.initializers[own.name] = *tensor;
        return;
      }
  graph.nodes.push_back(adapt_(own));
}

Flow::Slice Flow::slice(const std::vector<std::string>& targets, const Stops& stops) {
  Slice result;
  std::vector<Part> parts;
  std::unordered_map<std::string, size_t> places;
  // A switch passes either of its outputs on; other nodes are there once.
  const auto key = [&](const std::string& value, size_t index) {
    return is_op(index, "Switch") ? value : std::to_string(index);
  };
  const auto visit = [&](const std::string& value) {
    const size_t index = maker(value);
    if (index == kNone || node(index).op == "Placeholder" || stops(value, index)) {
      result.captured.insert(value);
      return kNone;
    }
    const auto [place, is_new] = places.emplace(key(value, index), parts.size());
    if (is_new) parts.push_back({value, index, {}, 0});
    return place->second;
  };
  for (const std::string& target : targets) {
    visit(target);
    result.graph.outputs.push_back({target, {}, {}, {}});
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (++sliced_ > kMostSliced)
      throw Refusal(fmt::format("the graph's branches and loops have more than {} nodes", kMostSliced));
    for (const std::string& need : needs_of(parts[i].index))
      if (const size_t place = visit(need); place != kNone) {
        parts[place].readers.push_back(i);
        ++parts[i].waits;
      }
  }
  emit(std::move(parts), result.graph);
  return result;
}

/// Each part behind what it needs, and otherwise in the file's order, which is that of a person who wrote the model.
void Flow::emit(std::vector<Part> parts, onnx::Graph& graph) const {
  std::set<std::pair<size_t, size_t>> ready;  // by the place in the file
  const auto wait_for = [&](size_t part) { ready.emplace(rank_[parts[part].index], part); };
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].waits == 0) wait_for(i);
  while (!ready.empty()) {
    const size_t next = ready.begin()->second;
    ready.erase(ready.begin());
    emit(parts[next].value, parts[next].index, graph);
    for (const size_t reader : parts[next].readers)
      if (--parts[reader].waits == 0) wait_for(reader);
  }
}

onnx::Graph Flow::graph(const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs) {
    const size_t index = maker(output);
    if (index != kNone && frame_of_[index] != 0)
      throw Refusal(fmt::format("the output `{}` is inside of a loop", output));
    if (!conditions_of(output).empty())
      throw Refusal(fmt::format("the output `{}` is computed under a condition alone", output));
    if (index == kNone) continue;
    const size_t place = parts_of(output).second;
    if (const auto count = output_count(node(index)); !made_.contains(output) && count && place >= *count)
      throw Refusal(fmt::format("--result: {} has no output {}", place_of(node(index)), place));
    if (by_name_.contains(node(index).name) && place < node(index).outputs.size() && !made_.contains(output))
      nodes_[index].node.outputs[place] = output;
  }
  return slice(outputs, [](const std::string&, size_t) { return false; }).graph;
}

std::vector<const Node*> Flow::placeholders(const std::vector<std::string>& outputs) const {
  std::vector<std::string> open = outputs;
  std::vector<bool> seen(nodes_.size());
  while (!open.empty()) {
    const size_t index = maker(open.back());
    open.pop_back();
    if (index == kNone || seen[index]) continue;
    seen[index] = true;
    const auto needs = needs_of(index);
    open.insert(open.end(), needs.begin(), needs.end());
  }
  std::vector<const Node*> result;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (seen[i] && node(i).op == "Placeholder") result.push_back(&node(i));
  return result;
}

std::vector<std::string> Flow::unread() const {
  std::set<std::string> read;
  for (const GraphNode& each : nodes_) {
    for (const std::string& input : each.node.inputs) read.insert(parts_of(input).first);
    read.insert(each.controls.begin(), each.controls.end());
  }
  static const std::set<std::string_view> kNothing = {"Assert", "Const", "NoOp", "Placeholder", "Switch"};
  std::vector<std::string> result;
  for (size_t i = 0; i < by_name_.size(); ++i) {
    const Node& own = node(i);
    if (read.contains(own.name) || kNothing.contains(own.op) || frame_of_[i] != 0 ||
        !conditions_of(own.name).empty())
      continue;
    static const std::set<std::string_view> kFirstAlone = {"FusedBatchNorm", "FusedBatchNormV2",
                                                           "FusedBatchNormV3", "Merge"};
    const size_t count = kFirstAlone.contains(own.op) ? 1 : output_count(own).value_or(1);
    for (size_t k = 0; k < count; ++k)
      result.push_back(k == 0 ? own.name : fmt::format("{}:{}", own.name, k));
  }
  return result;
}

}  // namespace quern::tensorflow
