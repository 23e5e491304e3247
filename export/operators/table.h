#pragma once
// The operators that ONNX has too.

#include <optional>
#include <span>
#include <string_view>

#include "export/operators/operator_call.h"

namespace quern::onnx {

/// An operator of the library and its nodes in ONNX. `convert` has no result for a call that ONNX cannot say in this way (a
/// layout, a mode): that is lowered by its definition.
struct Row {
  std::string_view name;
  std::optional<GraphValue> (*convert)(const Row& row, OperatorCall& call);
  std::string_view onnx = {};  ///< for a row whose `convert` serves several
};

/// The row of an operator, or null.
const Row* find_row(std::string_view name);

// The families, each a source of its own.
std::span<const Row> elementwise_rows();
std::span<const Row> layer_rows();
std::span<const Row> pool_rows();
std::span<const Row> product_rows();
std::span<const Row> reduction_rows();
std::span<const Row> shape_rows();
std::span<const Row> index_rows();

}  // namespace quern::onnx
