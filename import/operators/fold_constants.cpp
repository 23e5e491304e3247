#include "import/operators/fold_constants.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern::onnx {

using namespace import_text;

namespace {

/// Larger constants are weights: what becomes of them is a part of the text.
constexpr int64_t kLargest = 1024;

bool is_small_constant(const Term& term) {
  if (!term.type) return true;  // left out
  if (term.constant) return term.constant->size() <= kLargest;
  return term.dims && std::ranges::all_of(*term.dims, [](Dim dim) { return as_const(dim).has_value(); });
}

}  // namespace

std::optional<Term> fold_constants(const Node& node, int64_t opset, std::optional<size_t> place,
                                   const std::vector<Term>& inputs, Typer& typer, Convert convert) {
  if (inputs.empty() || node.outputs.size() != 1 || !std::ranges::all_of(inputs, is_small_constant))
    return std::nullopt;
  for (const auto& [name, value] : node.attributes)
    if (std::holds_alternative<GraphPtr>(value)) return std::nullopt;
  Weights weights;
  Document document{typer, weights};
  Writer writer(document);
  Call call(node, opset, place, inputs, writer, {});
  try {
    convert(call);
    const Term& result = call.outputs().at(0);
    if (!result.type) return std::nullopt;
    if (result.text.empty()) return result;
    const TensorPtr value =
        weights.empty() ? typer.evaluate(block_of(writer.lines(), writer.operand(result))) : nullptr;
    return value && value->size() <= kLargest ? std::optional(constant_term(value)) : std::nullopt;
  } catch (const Refusal&) {
    return std::nullopt;  // reported where the node is written
  }
}

}  // namespace quern::onnx
