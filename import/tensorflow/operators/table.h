#pragma once
// The operators of TensorFlow: those that are ONNX's under other names, and what each other one becomes in the text.

#include <span>
#include <string_view>
#include <vector>

#include "import/operators/table.h"

namespace quern::tensorflow {

using onnx::Call;
using onnx::Operator;

/// One that ONNX has too. `adapt` makes its attributes those of ONNX's operator.
struct Renamed {
  std::string_view name, onnx;
  void (*adapt)(onnx::Node&) = nullptr;
};

/// By TensorFlow's name, or null.
const Renamed* find_renamed(std::string_view name);
const Operator* find_operator(std::string_view name);
/// Writes a node of TensorFlow's domain. Throws a Refusal.
void convert(Call& call);
/// Whether control flow or the graph's own structure has a node of this operator.
bool is_structure(std::string_view name);
/// The names of all that are known.
std::vector<std::string_view> operators();

std::span<const Renamed> renamed_operators();
// The families, each a source of its own.
std::span<const Operator> elementwise_operators();
std::span<const Operator> layer_operators();
std::span<const Operator> product_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> slice_operators();
std::span<const Operator> index_operators();
std::span<const Operator> image_operators();
std::span<const Operator> quantised_operators();
std::span<const Operator> control_operators();

}  // namespace quern::tensorflow
