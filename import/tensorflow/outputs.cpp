// How many outputs TensorFlow's operators have, and their names (tensorflow/core/ops, `.Output`).

#include <algorithm>

#include "import/tensorflow/graph.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using Names = std::vector<std::string_view>;

/// Those with more than one output, each a single tensor.
const std::map<std::string_view, Names>& several() {
  static const Names kNorm = {
      "y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"};
  static const Names kLstm = {"i", "cs", "f", "o", "ci", "co", "h"};
  static const std::map<std::string_view, Names> kAll = {
      {"BlockLSTM", kLstm},
      {"BlockLSTMV2", kLstm},
      {"FusedBatchNorm", Names(kNorm.begin(), kNorm.end() - 1)},
      {"FusedBatchNormV2", Names(kNorm.begin(), kNorm.end() - 1)},
      {"FusedBatchNormV3", kNorm},
      {"LSTMBlockCell", kLstm},
      {"Merge", {"output", "value_index"}},
      {"Switch", {"output_false", "output_true"}},
      {"TensorArrayV3", {"handle", "flow"}},
      {"TopK", {"values", "indices"}},
      {"TopKV2", {"values", "indices"}},
  };
  return kAll;
}

/// The attribute that has the number of outputs, or a type for each.
std::string_view counting_attribute(std::string_view op) {
  static const std::map<std::string_view, std::string_view> kAll = {
      {"If", "Tout"},
      {"IdentityN", "T"},
      {"PartitionedCall", "Tout"},
      {"Split", "num_split"},
      {"SplitV", "num_split"},
      {"ShapeN", "N"},
      {"StatefulPartitionedCall", "Tout"},
      {"StatelessIf", "Tout"},
      {"StatelessWhile", "T"},
      {"Unpack", "num"},
      {"While", "T"},
  };
  const auto found = kAll.find(op);
  return found == kAll.end() ? "" : found->second;
}

}  // namespace

std::optional<size_t> output_count(const onnx::Node& node) {
  if (const auto found = several().find(node.op); found != several().end()) return found->second.size();
  const std::string_view name = counting_attribute(node.op);
  if (name.empty())
    return find_operator(node.op) || is_structure(node.op) ? std::optional<size_t>(1) : std::nullopt;
  const auto attribute = node.attributes.find(name);
  if (attribute == node.attributes.end()) return std::nullopt;
  if (const auto* number = std::get_if<int64_t>(&attribute->second))
    return static_cast<size_t>(std::clamp<int64_t>(*number, 0, 1024));
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute->second)) return list->size();
  return std::nullopt;
}

size_t output_place(std::string_view op, std::string_view argument) {
  const auto found = several().find(op);
  if (found == several().end()) return 0;
  const auto place = std::ranges::find(found->second, argument) - found->second.begin();
  return place < std::ssize(found->second) ? static_cast<size_t>(place) : 0;
}

}  // namespace quern::tensorflow
