#pragma once
// The operators of ONNX: what each becomes in the text.

#include <span>
#include <string_view>
#include <vector>

#include "import/node/call.h"

namespace quern::onnx {

/// One that is a single expression of its inputs (`$0`, `$1`…) has that, any other one a function.
struct Operator {
  std::string_view name, expression;
  void (*convert)(Call&) = nullptr;
};
void convert(const Operator& row, Call& call);
/// Writes a node of the default domain: by what is known of its inputs, or as its operator's row says. Throws a Refusal.
void convert(Call& call);

/// An operator of the default domain, or null.
const Operator* find_operator(std::string_view name);
/// All of them, by name.
std::vector<const Operator*> operators();

// The families, each a source of its own.
std::span<const Operator> elementwise_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> index_operators();
std::span<const Operator> layer_operators();
std::span<const Operator> pool_operators();
std::span<const Operator> product_operators();
std::span<const Operator> quantised_operators();
std::span<const Operator> loss_operators();
std::span<const Operator> image_operators();
std::span<const Operator> resize_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> random_operators();
std::span<const Operator> text_operators();
std::span<const Operator> control_operators();

}  // namespace quern::onnx
