#pragma once
// What is computed of constants alone, while a model is imported.

#include <optional>

#include "import/node/call.h"

namespace quern::onnx {

/// Writes a node as its domain's operators are written. Throws a Refusal.
using Convert = void (*)(Call&);

/// The output of a node with one whose inputs are all small constants; nothing where that cannot be evaluated.
std::optional<Term> fold_constants(const Node& node, int64_t opset, std::optional<size_t> place,
                                   const std::vector<Term>& inputs, import_text::Typer& typer,
                                   Convert convert);

}  // namespace quern::onnx
