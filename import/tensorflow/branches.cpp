// What lies between `Switch` and `Merge` as `If`.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "import/tensorflow/flow.h"

namespace quern::tensorflow {

using onnx::Node;

namespace {

constexpr size_t kMostConditions = 32;  ///< branches in each other

bool contains(const std::vector<std::pair<std::string, bool>>& all, const std::pair<std::string, bool>& one) {
  return std::ranges::find(all, one) != all.end();
}

std::pair<std::string, bool> opposite(const std::pair<std::string, bool>& condition) {
  return {condition.first, !condition.second};
}

}  // namespace

/// The value behind those that only pass it on.
std::string Flow::unnamed(std::string value) const {
  for (size_t index = maker(value);
       (is_op(index, "Identity") || is_op(index, "PlaceholderWithDefault")) && !node(index).inputs.empty();
       index = maker(value))
    value = node(index).inputs[0];
  return value;
}

Flow::Conditions Flow::conditions_of(const std::string& value) const {
  const size_t index = maker(value);
  if (index == kNone) return {};
  Conditions conditions = conditions_[index];
  if (!is_op(index, "Switch") || is_loop_switch(index) || node(index).inputs.size() != 2) return conditions;
  const Condition own = {unnamed(node(index).inputs[1]), value.ends_with(":1")};
  if (!contains(conditions, own)) conditions.push_back(own);
  if (conditions.size() > kMostConditions) throw Refusal("its branches stand too deep in each other");
  return conditions;
}

Flow::Conditions Flow::union_of(size_t index) const {
  Conditions all;
  const auto add = [&](const std::string& value) {
    for (const Condition& condition : conditions_of(value))
      if (!contains(all, condition)) all.push_back(condition);
  };
  for (const std::string& need : needs_of(index)) add(need);
  for (const std::string& control : nodes_[index].controls) add(control);
  return all;
}

void Flow::branches_of(size_t frame) {
  for (size_t index : order_) {
    if (frame_of_[index] != frame) continue;
    const Node& own = node(index);
    if (own.op == "Enter" || is_state(index)) continue;
    // What a loop within this frame computes has the conditions of what it is given.
    if (own.op == "Exit") {
      const size_t loop = maker(own.name),
                   first = is_op(loop, "Identity") ? maker(node(loop).inputs[0]) : loop;
      conditions_[index] = conditions_[loop] = conditions_[first] = union_of(first);
    } else if (own.op == "Merge") {
      merge_branches(index);
    } else {
      conditions_[index] = union_of(index);
    }
  }
}

Flow::Slice Flow::branch(const std::vector<std::string>& values, const Condition& condition, size_t frame) {
  return slice(values, [&](const std::string& inner, size_t index) {
    return frame_of_[index] != frame || !contains(conditions_of(inner), condition);
  });
}

void Flow::merge_branches(size_t index) {
  const Node own = node(index);
  if (own.inputs.size() != 2)
    throw Refusal(fmt::format("Merge `{}`: has {} inputs; two are known", own.name, own.inputs.size()));
  if (own.outputs.size() > 1 && !own.outputs[1].empty())
    throw Refusal(fmt::format("Merge `{}`: which of its inputs there is, is asked for", own.name));
  const Conditions first = conditions_of(own.inputs[0]), second = conditions_of(own.inputs[1]);
  // The innermost condition whose sides the inputs are. A constant may have lost what it waited for.
  const Condition* found = nullptr;
  for (const Condition& condition : first)
    if (contains(second, opposite(condition))) found = &condition;
  for (const Condition& condition : first)
    if (!found && !contains(second, condition)) found = &condition;
  Condition from_second;
  for (const Condition& condition : second)
    if (!found && !contains(first, condition)) {
      from_second = opposite(condition);
      found = &from_second;
    }
  if (!found) throw Refusal(fmt::format("Merge `{}`: its inputs are of no condition", own.name));
  const Condition condition = *found;
  std::string then = own.inputs[0], otherwise = own.inputs[1];
  if (!condition.second) std::swap(then, otherwise);
  if (const auto known = known_condition(condition.first)) {
    const size_t chosen = add({own.name, "Identity", "", {*known ? then : otherwise}, {own.name}, {}},
                              frame_of_[index], index, {});
    set_conditions(index, chosen, condition.first);
    return;
  }
  // Results of one `tf.cond` are of one node.
  Branches& all = branches_[{condition.first, own.name.substr(0, own.name.rfind('/'))}];
  const bool joins =
      all.made != kNone && frame_of_[all.made] == frame_of_[index] && !needs({then, otherwise}, all.made);
  if (!joins) all = {};
  all.names.push_back(own.name);
  all.then.push_back(then);
  all.otherwise.push_back(otherwise);
  Slice holds = branch(all.then, {condition.first, true}, frame_of_[index]),
        fails = branch(all.otherwise, {condition.first, false}, frame_of_[index]);
  std::set<std::string> captured = std::move(holds.captured);
  captured.merge(fails.captured);
  Node made{all.names[0], "If", "", {condition.first}, all.names, {}};
  made.attributes["then_branch"] = std::make_shared<const onnx::Graph>(std::move(holds.graph));
  made.attributes["else_branch"] = std::make_shared<const onnx::Graph>(std::move(fails.graph));
  if (joins) {
    nodes_[all.made].node = std::move(made);
    captured_[all.made] = std::move(captured);
    made_[own.name] = all.made;
    conditions_[all.made].clear();
  } else {
    all.made = add(std::move(made), frame_of_[index], index, std::move(captured));
  }
  set_conditions(index, all.made, condition.first);
}

/// Whether values are computed of what a node gives.
bool Flow::needs(const std::vector<std::string>& values, size_t target) {
  std::vector<std::string> open = values;
  std::unordered_set<size_t> seen;
  while (!open.empty()) {
    const size_t index = maker(open.back());
    open.pop_back();
    if (index == target) return true;
    if (index == kNone || !seen.insert(index).second) continue;
    if (++sliced_ > kMostSliced) throw Refusal("the graph's branches need too much of each other");
    const auto inputs = needs_of(index);
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  return false;
}

/// What stands for a `Merge` is there under the conditions of what it needs, but for its own.
void Flow::set_conditions(size_t merge, size_t made, const std::string& own) {
  for (const Condition& outer : union_of(made))
    if (outer.first != own) conditions_[made].push_back(outer);
  conditions_[merge] = conditions_[made];
}

/// The value of a condition that the graph has as a constant.
std::optional<bool> Flow::known_condition(const std::string& value) const {
  const size_t index = maker(value);
  if (!is_op(index, "Const")) return std::nullopt;
  const auto found = node(index).attributes.find("value");
  const auto* tensor =
      found == node(index).attributes.end() ? nullptr : std::get_if<TensorPtr>(&found->second);
  if (!tensor || (*tensor)->size() != 1 || !(*tensor)->dtype().is_bool()) return std::nullopt;
  return element_as_int(**tensor, 0) != 0;
}

}  // namespace quern::tensorflow
