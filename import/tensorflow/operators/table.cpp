#include "import/tensorflow/operators/table.h"

#include <algorithm>
#include <array>
#include <map>

namespace quern::tensorflow {

namespace {

constexpr std::array kStructure = {"Assert",      "Const",           "Enter",       "Exit",
                                   "If",          "LoopCond",        "Merge",       "NextIteration",
                                   "NoOp",        "PartitionedCall", "Placeholder", "StatefulPartitionedCall",
                                   "StatelessIf", "StatelessWhile",  "Switch",      "While"};

const std::map<std::string_view, const Operator*>& table() {
  static const auto rows = [] {
    std::map<std::string_view, const Operator*> all;
    for (auto family : {elementwise_operators(), layer_operators(), product_operators(), shape_operators(),
                        slice_operators(), index_operators(), image_operators(), quantised_operators(),
                        control_operators()})
      for (const Operator& row : family) all.emplace(row.name, &row);
    return all;
  }();
  return rows;
}

const std::map<std::string_view, const Renamed*>& renamed() {
  static const auto rows = [] {
    std::map<std::string_view, const Renamed*> all;
    for (const Renamed& row : renamed_operators()) all.emplace(row.name, &row);
    return all;
  }();
  return rows;
}

}  // namespace

const Renamed* find_renamed(std::string_view name) {
  const auto found = renamed().find(name);
  return found == renamed().end() ? nullptr : found->second;
}

const Operator* find_operator(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

void convert(Call& call) {
  const Operator* row = find_operator(call.node().op);
  if (!row) throw import_text::Refusal("this operator has no counterpart");
  onnx::convert(*row, call);
}

bool is_structure(std::string_view name) {
  return std::ranges::find(kStructure, name) != kStructure.end() || find_renamed(name);
}

std::vector<std::string_view> operators() {
  std::vector<std::string_view> all(kStructure.begin(), kStructure.end());
  for (const auto& [name, row] : table()) all.push_back(name);
  for (const auto& [name, row] : renamed()) all.push_back(name);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace quern::tensorflow
